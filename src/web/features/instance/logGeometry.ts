import type { ConsoleLine, LineBlock, LineBuffer } from '../../sockets/lineBuffer'
import { keptBlocks, lineAt } from '../../sockets/lineBuffer'
import { plainText } from './ansi'
import type { Position } from './instanceSlice'

/** The window of the log (product §9), and one row of it. Also in log.scss. In pixels. */
export const HEIGHT = 500
export const ROW = 20

/** Where a reader is who sees the newest line last. */
export const bottomOf = ({ next }: LineBuffer): Position => ({ line: next, offset: -HEIGHT })
/** Where a line stands in the middle. */
export const aroundLine = (line: number): Position => ({ line, offset: -HEIGHT / 2 })

/** One column each at most, and escapes, which take none. */
// eslint-disable-next-line no-control-regex -- the escape is what this is about
const NARROW = /^[ -~\x1b]*$/

/**
 * How many rows the lines take at a width of so many columns, without asking the browser: in a monospaced font that may
 * break anywhere a line of plain characters wraps by arithmetic. What is not plain is guessed until it was measured.
 */
export function createGeometry(columns: number) {
  const measured = new WeakMap<ConsoleLine, number>()
  /** Per block the rows above each of its lines, and at the end of all. Blocks never change, so neither do these. */
  const sums = new WeakMap<LineBlock, Uint32Array>()

  const rowsOf = (line: ConsoleLine) => {
    // Most lines are short, and most are gone before anybody sees them: they are not read for their colours.
    if (line.content.length <= columns && NARROW.test(line.content)) return 1
    return measured.get(line) ?? Math.max(1, Math.ceil(plainText(line).length / columns))
  }

  const sumsOf = (block: LineBlock) => {
    const known = sums.get(block)
    if (known) return known
    const made = new Uint32Array(block.length + 1)
    for (const [index, line] of block.entries()) made[index + 1] = (made[index] ?? 0) + rowsOf(line)
    sums.set(block, made)
    return made
  }

  return {
    total(buffer: LineBuffer) {
      let rows = 0
      for (const { block, from } of keptBlocks(buffer)) rows += between(sumsOf(block), from, block.length)
      return rows
    },

    /** Rows above a line; of one that is gone, none. */
    above(buffer: LineBuffer, line: number) {
      let rows = 0
      for (const { block, number, from } of keptBlocks(buffer)) {
        if (line < number + block.length) return rows + between(sumsOf(block), from, Math.max(from, line - number))
        rows += between(sumsOf(block), from, block.length)
      }
      return rows
    },

    /** The line that covers a row. */
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

    /** @returns whether that is news. */
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

/** The last index whose sum is at most `row`. */
function search(sums: Uint32Array, row: number) {
  let [low, high] = [0, sums.length - 2]
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if ((sums[middle] ?? 0) <= row) low = middle
    else high = middle - 1
  }
  return low
}
