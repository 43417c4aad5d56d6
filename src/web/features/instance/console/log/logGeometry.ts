import type { ConsoleLine, LineBlock, LineBuffer } from '../../../../sockets/lineBuffer'
import { keptBlocks, lineAt } from '../../../../sockets/lineBuffer'
import { plainText } from './ansi'
import type { Position } from '../../instanceSlice'

/**
 * Height of the log (product §9) and of a row in pixels. Also in log.module.scss. On a phone the log fills the
 * remaining height, which is measured (useLogSize.ts).
 */
export const LOG_HEIGHT_PX = 500
export const ROW_HEIGHT_PX = 18

/** The scroll position that shows the newest line at the bottom. */
export const bottomOf = ({ next }: LineBuffer, height: number): Position => ({ line: next, offset: -height })
/** The scroll position that centres a line. */
export const aroundLine = (line: number, height: number): Position => ({ line, offset: -height / 2 })
/** The height of the rendered log. */
export const heightOf = (pane: Element | null): number => pane?.clientHeight || LOG_HEIGHT_PX

/** Characters that are one column wide, and escapes, which have no width. */
// eslint-disable-next-line no-control-regex -- matches the escape character
const NARROW = /^[ -~\x1b]*$/

/**
 * Computes how many rows lines take at a given width without layout: in a monospaced font that may break anywhere,
 * plain characters wrap by arithmetic. Other lines are estimated until they are measured.
 */
export function createGeometry(columns: number) {
  const measured = new WeakMap<ConsoleLine, number>()
  /** Prefix sums per block: the rows above each line, and the total at the end. Blocks are immutable. */
  const sums = new WeakMap<LineBlock, Uint32Array>()

  const rowsOf = (line: ConsoleLine) => {
    // A fast path without parsing colours: most lines are short, and many are evicted unseen.
    if (line.content.length <= columns && NARROW.test(line.content)) return 1
    return measured.get(line) ?? Math.max(1, Math.ceil(plainText(line).length / columns))
  }

  const sumsOf = (block: LineBlock) => {
    const known = sums.get(block)
    if (known) return known
    const blockSums = new Uint32Array(block.length + 1)
    for (const [index, line] of block.entries()) blockSums[index + 1] = (blockSums[index] ?? 0) + rowsOf(line)
    sums.set(block, blockSums)
    return blockSums
  }

  return {
    /** The rows of all lines. */
    total(buffer: LineBuffer) {
      let rows = 0
      for (const { block, from } of keptBlocks(buffer)) rows += between(sumsOf(block), from, block.length)
      return rows
    },

    /** Rows above a line; 0 if the line was evicted. */
    above(buffer: LineBuffer, line: number) {
      let rows = 0
      for (const { block, number, from } of keptBlocks(buffer)) {
        if (line < number + block.length) return rows + between(sumsOf(block), from, Math.max(from, line - number))
        rows += between(sumsOf(block), from, block.length)
      }
      return rows
    },

    /** The line at a row. */
    lineAt(buffer: LineBuffer, row: number) {
      let rows = 0
      for (const { block, number, from } of keptBlocks(buffer)) {
        const blockSums = sumsOf(block)
        const height = between(blockSums, from, block.length)
        if (row < rows + height) return number + search(blockSums, row - rows + (blockSums[from] ?? 0))
        rows += height
      }
      return Math.max(buffer.first, buffer.next - 1)
    },

    /** Stores the measured height. @returns whether it differs from the known one. */
    measure(buffer: LineBuffer, number: number, rows: number) {
      const line = lineAt(buffer, number)
      if (!line || rows < 1 || rowsOf(line) === rows) return false
      measured.set(line, rows)
      for (const { block, number: start } of keptBlocks(buffer)) {
        if (number >= start && number < start + block.length) sums.delete(block)
      }
      return true
    },
  }
}

const between = (sums: Uint32Array, from: number, to: number) => (sums[to] ?? 0) - (sums[from] ?? 0)

/** Binary search for the last index whose sum is at most `row`. */
function search(sums: Uint32Array, row: number) {
  let low = 0
  let high = sums.length - 2
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if ((sums[middle] ?? 0) <= row) low = middle
    else high = middle - 1
  }
  return low
}
