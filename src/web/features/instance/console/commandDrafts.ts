/**
 * Commands that were typed but not sent, by instance, until the page is reloaded. Kept outside the store, because a
 * draft may hold a password and must never reach an action log or the browser's storage.
 */
const draftsOf = new WeakMap<object, Map<string, string>>()

export const draftOf = (store: object, uid: string): string => draftsOf.get(store)?.get(uid) ?? ''

export function keepDraft(store: object, uid: string, text: string) {
  const drafts = draftsOf.get(store) ?? new Map<string, string>()
  draftsOf.set(store, drafts)
  if (text === '') drafts.delete(uid)
  else drafts.set(uid, text)
}

/** Drafts of one user must not reach the next. */
export const forgetDrafts = (store: object) => void draftsOf.delete(store)
