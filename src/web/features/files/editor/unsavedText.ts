import type { TextEncoding } from '../../../../contract/file'

type Unsaved = {
  path: string
  /** Whose it is. */
  subject: string | undefined
  text: string
  /** Of the file that it was made from: one that changed since is noticed when it is saved. */
  encoding?: TextEncoding
  modifyTime?: number
}

/** What was in the editor when a session ran out. A file's text is never in the store; it waits here until its user opens the file again. */
let kept: Unsaved | undefined

export function keepUnsaved(unsaved: Unsaved): void {
  kept = unsaved
}

/** Once. Nothing is left of it for anybody else. */
export function takeUnsaved(path: string, subject: string | undefined): Omit<Unsaved, 'path' | 'subject'> | undefined {
  if (kept?.subject !== subject) kept = undefined
  if (kept?.path !== path) return undefined
  const { path: _, subject: __, ...unsaved } = kept
  kept = undefined
  return unsaved
}
