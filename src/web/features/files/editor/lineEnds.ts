/** A change of an editor's lines, as Ace tells it: rows from 0, a line more than the line ends that came or went. */
export type LineChange = { action: 'insert' | 'remove'; start: { row: number }; lines: string[] }

const END = /\r\n|\n|\r/g
/** So many removals are remembered, for when they are undone or put in elsewhere. */
const REMEMBERED = 50

const names: Record<string, string> = { '\n': 'LF', '\r\n': 'CRLF', '\r': 'CR' }

/**
 * Remembers how each line of a text ends, while an editor that knows lines only changes them: what nobody touched is saved
 * as it was, however the ends are mixed. A new line ends like the one it was made from.
 */
export function createLineEnds(text: string) {
  let ends: string[] = text.match(END) ?? []
  const kinds = [...new Set(ends)]
  const counts = kinds.map((kind) => ends.reduce((count, end) => count + Number(end === kind), 0))
  const usual = kinds[counts.indexOf(Math.max(...counts))] ?? '\n'
  const removed: { text: string; ends: string[] }[] = []

  return {
    /** For people. */
    kind: kinds.length > 1 ? 'Mixed line ends' : (names[usual] ?? ''),

    changed({ action, start: { row }, lines }: LineChange) {
      const count = lines.length - 1
      if (count === 0) return
      const text = lines.join('\n')
      if (action === 'remove') {
        removed.push({ text, ends: ends.slice(row, row + count) })
        if (removed.length > REMEMBERED) removed.shift()
        ends = ends.slice(0, row).concat(ends.slice(row + count))
        return
      }
      const known = removed.findLast((removal) => removal.text === text)?.ends
      const made = known ?? Array<string>(count).fill(ends[row] ?? ends[row - 1] ?? usual)
      ends = ends.slice(0, row).concat(made, ends.slice(row))
    },

    /** The lines are those of this text now. */
    became(text: string) {
      ends = text.match(END) ?? []
    },

    /** The text of these lines, which must have gone through the same changes. */
    join: (lines: readonly string[]) =>
      lines.map((line, row) => (row < lines.length - 1 ? line + (ends[row] ?? usual) : line)).join(''),
  }
}
