import type { Draft, DraftContent } from './draft'
import type { DraftDatabase } from './draftDatabase'

export const LIFETIME_MS = 7 * 86_400_000
/** Limit of all drafts of a user, in characters. */
export const MAX_TOTAL_LENGTH = 20 * 2 ** 20

export type DraftCache = ReturnType<typeof createDraftCache>

/** Keeps drafts in memory and writes them to the database. */
export function createDraftCache(database: DraftDatabase, now: () => number) {
  const drafts = new Map<string, Draft>()
  /** Changes that the database does not have yet: ids of written and of removed drafts. */
  const unwritten = new Set<string>()
  const removed = new Set<string>()

  /** Newest first. */
  const ofUser = (user: string | undefined) =>
    [...drafts.values()].filter((draft) => draft.user === user).sort((a, b) => b.keptAt - a.keptAt)

  function remove(...ids: string[]) {
    const known = ids.filter((id) => drafts.delete(id))
    if (known.length === 0) return
    for (const id of known) {
      removed.add(id)
      unwritten.delete(id)
    }
    void database.remove(known)
  }

  /** Removes the oldest drafts beyond the limit, but never the one that is being written. */
  function makeRoom(written: Draft) {
    let total = 0
    for (const draft of ofUser(written.user)) {
      total += lengthOf(draft.content)
      if (total > MAX_TOTAL_LENGTH && draft !== written) remove(draft.id)
    }
  }

  return {
    ofUser,
    get: (id: string) => drafts.get(id),
    remove,
    put(draft: Draft) {
      drafts.set(draft.id, draft)
      unwritten.add(draft.id)
      removed.delete(draft.id)
      makeRoom(draft)
      void database.write(draft).then((isWritten) => {
        // A later version of the draft may still be on its way.
        if (isWritten && drafts.get(draft.id) === draft) unwritten.delete(draft.id)
      })
    },
    /** Whether the database has all drafts. */
    isWritten: () => unwritten.size === 0,
    /**
     * Takes over drafts of other tabs and earlier visits, except drafts that are open in this page. Resolves to whether
     * the database could be read.
     */
    async read(getUser: () => string | undefined, isOpen: (id: string) => boolean): Promise<boolean> {
      const found = await database.read()
      if (!found) return false
      const expired = found.filter(({ keptAt }) => now() - keptAt > LIFETIME_MS).map(({ id }) => id)
      if (expired.length > 0) void database.remove(expired)
      const valid = new Map(found.filter(({ id }) => !expired.includes(id)).map((draft) => [draft.id, draft]))
      for (const id of drafts.keys()) {
        // Another tab saved or discarded it.
        if (!isOpen(id) && !unwritten.has(id) && !valid.has(id)) drafts.delete(id)
      }
      for (const draft of valid.values()) {
        const isOutdated = isOpen(draft.id) || unwritten.has(draft.id) || removed.has(draft.id)
        if (draft.user === getUser() && !isOutdated) drafts.set(draft.id, draft)
      }
      return true
    },
  }
}

export const lengthOf = (content: DraftContent) =>
  Object.values(content).reduce<number>((sum, value) => sum + String(value).length, 0)
