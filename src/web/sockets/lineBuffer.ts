/** The maximum number of lines that the console keeps (decisions §6). */
export const KEPT_LINES = 5000
/** The maximum length of all lines together; the oldest are dropped first. The platform keeps as much. In UTF-16 units. */
export const KEPT_LENGTH = 4 * 2 ** 20
const BLOCK = 500

export type ConsoleLine = {
  /** `system` is what the console says itself. */
  readonly type: 'message' | 'error' | 'system'
  readonly content: string
}

/** Full but for the last one. Never changed once made: what was found out about a block stays true. */
export type LineBlock = readonly ConsoleLine[]

/** Some of the last lines, numbered from 0 as they came. */
export type LineRange = {
  readonly blocks: readonly LineBlock[]
  /** Number of the first line of the first block, which may be gone already. */
  readonly start: number
  /** Number of the oldest line that is kept. */
  readonly first: number
  /** Number of the line that comes next. */
  readonly next: number
}

/** The last KEPT_LINES lines, or KEPT_LENGTH of text; the newest line however long it is. */
export type LineBuffer = LineRange & {
  /** Of the kept lines together. In UTF-16 units. */
  readonly length: number
}

export const emptyBuffer: LineBuffer = Object.freeze({
  blocks: Object.freeze([]),
  start: 0,
  first: 0,
  next: 0,
  length: 0,
})

/** Costs one block at most beyond the lines themselves and those that are dropped, however many there are. All of it is frozen: immer need not look. */
export function append(buffer: LineBuffer, lines: readonly ConsoleLine[]): LineBuffer {
  const blocks = buffer.blocks.slice()
  const last = blocks.at(-1)
  let taken = 0
  if (last && last.length < BLOCK) {
    taken = BLOCK - last.length
    blocks[blocks.length - 1] = Object.freeze([...last, ...lines.slice(0, taken)])
  }
  for (; taken < lines.length; taken += BLOCK) blocks.push(Object.freeze(lines.slice(taken, taken + BLOCK)))

  const next = buffer.next + lines.length
  let { first } = buffer
  let length = buffer.length + lengthOf(lines)
  for (; next - first > KEPT_LINES || (length > KEPT_LENGTH && next - first > 1); first += 1) {
    length -= blocks[Math.floor((first - buffer.start) / BLOCK)]?.[(first - buffer.start) % BLOCK]?.content.length ?? 0
  }
  const gone = Math.floor((first - buffer.start) / BLOCK)
  return Object.freeze({
    blocks: Object.freeze(blocks.slice(gone)),
    start: buffer.start + gone * BLOCK,
    first,
    next,
    length,
  })
}

/** Of lines together. In UTF-16 units. */
export const lengthOf = (lines: readonly ConsoleLine[]): number =>
  lines.reduce((sum, { content }) => sum + content.length, 0)

/** The newest of some lines, as many as the console would keep. */
export const newestOf = (lines: readonly ConsoleLine[]): ConsoleLine[] => allLines(append(emptyBuffer, lines))

/** Without its lines; the numbers go on. */
export const cleared = ({ next }: LineBuffer): LineBuffer =>
  Object.freeze({ blocks: emptyBuffer.blocks, start: next, first: next, next, length: 0 })

/** The lines from a number on. */
export function since({ blocks, start, first, next }: LineRange, number: number): LineRange {
  const from = Math.min(next, Math.max(first, number))
  const gone = Math.floor((from - start) / BLOCK)
  return { blocks: blocks.slice(gone), start: start + gone * BLOCK, first: from, next }
}

export function lineAt({ blocks, start, first, next }: LineRange, number: number): ConsoleLine | undefined {
  if (number < first || number >= next) return undefined
  return blocks[Math.floor((number - start) / BLOCK)]?.[(number - start) % BLOCK]
}

/** The kept lines with their blocks: from where to where of each, and the number of its first line. */
export function* keptBlocks({ blocks, start, first }: LineRange) {
  let number = start
  for (const block of blocks) {
    yield { block, number, from: Math.max(0, first - number) }
    number += block.length
  }
}

export const allLines = ({ blocks, start, first }: LineRange): ConsoleLine[] => blocks.flat().slice(first - start)
