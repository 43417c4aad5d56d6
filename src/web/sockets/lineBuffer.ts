/** The maximum number of lines that the console keeps (decisions §6). */
export const KEPT_LINES = 5000
/**
 * The maximum length of all lines together in UTF-16 code units, as on the platform. The oldest lines are evicted
 * first.
 */
export const KEPT_LENGTH = 4 * 2 ** 20
const BLOCK_SIZE = 500

/** Precedes a sent command in the log, as in a terminal. */
export const COMMAND_MARK = '> '

export type ConsoleLine = {
  /** `system` lines are messages of the console itself; a `command` was sent by this viewer, after COMMAND_MARK. */
  readonly type: 'message' | 'error' | 'system' | 'command'
  readonly content: string
}

/** Blocks hold BLOCK_SIZE lines, the last one fewer. They are immutable, so that results per block can be cached. */
export type LineBlock = readonly ConsoleLine[]

/** A range of lines. Numbers start at 0 and are never reused. */
export type LineRange = {
  readonly blocks: readonly LineBlock[]
  /** Number of the first line of the first block. That line may be evicted already. */
  readonly start: number
  /** Number of the oldest line that is kept. */
  readonly first: number
  /** Number of the next line. */
  readonly next: number
}

/** The last KEPT_LINES lines, at most KEPT_LENGTH of text. The newest line is kept whatever its length. */
export type LineBuffer = LineRange & {
  /** Length of all kept lines in UTF-16 code units. */
  readonly length: number
}

export const emptyBuffer: LineBuffer = Object.freeze({
  blocks: Object.freeze([]),
  start: 0,
  first: 0,
  next: 0,
  length: 0,
})

/** Appends lines and evicts old ones. Copies at most one block. The result is frozen, so immer does not traverse it. */
export function append(buffer: LineBuffer, lines: readonly ConsoleLine[]): LineBuffer {
  const blocks = buffer.blocks.slice()
  const last = blocks.at(-1)
  let taken = 0
  if (last && last.length < BLOCK_SIZE) {
    taken = BLOCK_SIZE - last.length
    blocks[blocks.length - 1] = Object.freeze([...last, ...lines.slice(0, taken)])
  }
  for (; taken < lines.length; taken += BLOCK_SIZE) blocks.push(Object.freeze(lines.slice(taken, taken + BLOCK_SIZE)))

  const next = buffer.next + lines.length
  // The state of a replayed file may claim more lines than it holds.
  let first = Math.max(buffer.first, next - blocks.reduce((count, block) => count + block.length, 0))
  let length = buffer.length + lengthOf(lines)
  for (; next - first > KEPT_LINES || (length > KEPT_LENGTH && next - first > 1); first += 1) {
    length -=
      blocks[Math.floor((first - buffer.start) / BLOCK_SIZE)]?.[(first - buffer.start) % BLOCK_SIZE]?.content.length ??
      0
  }
  const evictedBlocks = Math.floor((first - buffer.start) / BLOCK_SIZE)
  return Object.freeze({
    blocks: Object.freeze(blocks.slice(evictedBlocks)),
    start: buffer.start + evictedBlocks * BLOCK_SIZE,
    first,
    next,
    length,
  })
}

/** Total length in UTF-16 code units. */
export const lengthOf = (lines: readonly ConsoleLine[]): number =>
  lines.reduce((sum, { content }) => sum + content.length, 0)

/** Returns the newest lines that a buffer would keep. */
export const newestOf = (lines: readonly ConsoleLine[]): ConsoleLine[] => allLines(append(emptyBuffer, lines))

/** Removes all lines. Numbering continues. */
export const withoutLines = ({ next }: LineBuffer): LineBuffer =>
  Object.freeze({ blocks: emptyBuffer.blocks, start: next, first: next, next, length: 0 })

/** Returns the lines from a number on. */
export function since({ blocks, start, first, next }: LineRange, number: number): LineRange {
  const from = Math.min(next, Math.max(first, number))
  const evictedBlocks = Math.floor((from - start) / BLOCK_SIZE)
  return { blocks: blocks.slice(evictedBlocks), start: start + evictedBlocks * BLOCK_SIZE, first: from, next }
}

export function lineAt({ blocks, start, first, next }: LineRange, number: number): ConsoleLine | undefined {
  if (number < first || number >= next) return undefined
  return blocks[Math.floor((number - start) / BLOCK_SIZE)]?.[(number - start) % BLOCK_SIZE]
}

/** Yields the blocks with the number of their first line and the index of their first kept line (`from`). */
export function* keptBlocks({ blocks, start, first }: LineRange) {
  let number = start
  for (const block of blocks) {
    yield { block, number, from: Math.max(0, first - number) }
    number += block.length
  }
}

export const allLines = ({ blocks, start, first }: LineRange): ConsoleLine[] => blocks.flat().slice(first - start)
