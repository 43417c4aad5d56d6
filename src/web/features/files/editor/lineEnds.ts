/** A change event of Ace. `row` is zero-based; `lines` has one element more than line ends were inserted or removed. */
export type LineChange = { action: 'insert' | 'remove'; start: { row: number }; lines: string[] }

const END = /\r\n|\n|\r/g
/** Number of removals that are remembered, so that undo or paste restores their line ends. */
const REMEMBERED = 50

const names: Record<string, string> = { '\n': 'LF', '\r\n': 'CRLF', '\r': 'CR' }

/**
 * Remembers how each line of a text ends while Ace edits it, because Ace knows lines only. Untouched lines keep their
 * ends when saved, even if they are mixed. A new line ends like its neighbour.
 */
export function createLineEnds(text: string) {
  let ends: string[] = text.match(END) ?? []
  const kinds = [...new Set(ends)]
  const counts = kinds.map((kind) => ends.reduce((count, end) => count + Number(end === kind), 0))
  const usual = kinds[counts.indexOf(Math.max(...counts))] ?? '\n'
  const removed: { text: string; ends: string[] }[] = []

  return {
    /** Shown to the user. */
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

    /** Replaces all line ends with those of this text. */
    replaceAll(text: string) {
      ends = text.match(END) ?? []
    },

    /** Joins the lines of the editor, which must have gone through the same changes. */
    join: (lines: readonly string[]) =>
      lines.map((line, row) => (row < lines.length - 1 ? line + (ends[row] ?? usual) : line)).join(''),
  }
}
