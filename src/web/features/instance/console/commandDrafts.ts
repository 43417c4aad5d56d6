/**
 * Commands that were typed but not sent, by instance, until the page is reloaded. Kept outside the store, because a
 * draft may hold a password and must never reach an action log or the browser's storage. The keys are the
 * services of a store, because its listeners have no other reference to it.
 */
const draftsOf = new WeakMap<object, Map<string, string>>()

export const draftOf = (services: object, uid: string): string => draftsOf.get(services)?.get(uid) ?? ''

export function keepDraft(services: object, uid: string, text: string) {
  const drafts = draftsOf.get(services) ?? new Map<string, string>()
  draftsOf.set(services, drafts)
  if (text === '') drafts.delete(uid)
  else drafts.set(uid, text)
}

/** Drafts of one user must not reach the next. */
export const forgetDrafts = (services: object) => void draftsOf.delete(services)
