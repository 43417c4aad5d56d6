import { diffLines } from 'diff'

export type ChangedLine = {
  kind: 'same' | 'added' | 'removed'
  text: string
  /** Counted from 1, in the stored text; none for an added line. */
  before?: number
  /** Counted from 1, in the new text; none for a removed line. */
  after?: number
}
/** Lines that both texts have and nobody needs to see. */
export type Gap = { kind: 'gap'; count: number }

/** Unchanged lines that are shown around a change. */
const CONTEXT = 3

/** What differs, as one list from top to bottom. Empty when nothing does. */
export function changedLines(stored: string, text: string): (ChangedLine | Gap)[] {
  const changes = diffLines(stored, text)
  if (!changes.some(({ added, removed }) => added || removed)) return []
  let before = 0
  let after = 0
  return changes.flatMap(({ value, added, removed }, index) => {
    const lines = value.replace(/\r?\n$/, '').split('\n')
    const numbered = lines.map((line): ChangedLine => {
      if (added) return { kind: 'added', text: line, after: ++after }
      if (removed) return { kind: 'removed', text: line, before: ++before }
      return { kind: 'same', text: line, before: ++before, after: ++after }
    })
    if (added || removed) return numbered
    const head = index === 0 ? 0 : CONTEXT
    const tail = index === changes.length - 1 ? 0 : CONTEXT
    const count = numbered.length - head - tail
    // A gap of one line would take the place of that line.
    return count < 2
      ? numbered
      : [...numbered.slice(0, head), { kind: 'gap', count }, ...numbered.slice(numbered.length - tail)]
  })
}
