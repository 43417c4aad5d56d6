import { diffLines } from 'diff'

export type ChangedLine = {
  kind: 'same' | 'added' | 'removed'
  text: string
  /** One-based line number in the stored text. Missing for an added line. */
  before?: number
  /** One-based line number in the new text. Missing for a removed line. */
  after?: number
}
/** Unchanged lines that are not shown. */
export type Gap = { kind: 'gap'; count: number }

/** Unchanged lines that are shown around a change. */
const CONTEXT = 3

/** Returns the differences from top to bottom, with context. Empty if the texts are equal. */
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
    // A gap of one line would take as much room as the line itself.
    return count < 2
      ? numbered
      : [...numbered.slice(0, head), { kind: 'gap', count }, ...numbered.slice(numbered.length - tail)]
  })
}
