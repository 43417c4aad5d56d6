import type { SessionEnd } from '../facts'
import type { DraftContent, Offer, Subject } from './draft'
import type { DraftDatabase } from './draftDatabase'
import type { OpenEditors } from './draftSlot'
import { openSlot } from './draftSlot'
import { createDraftCache } from './draftCache'

/** Deadline, because IndexedDB may hang. */
export const SETTLE_TIMEOUT_MS = 3000

export type DraftKeeper = ReturnType<typeof createDraftKeeper>

type DraftKeeperOptions = { database: DraftDatabase; now: () => number; onOffers: (offers: Offer[]) => void }

/**
 * Keeps the drafts of one user in memory and in the database. Each open editor writes a draft of its own, so that no
 * other tab or visit overwrites a draft that is still offered.
 */
export function createDraftKeeper({ database, now, onOffers }: DraftKeeperOptions) {
  const cache = createDraftCache(database, now)
  const editors: OpenEditors = {
    cache,
    now,
    open: new Set(),
    interrupted: new Set(),
    tooLong: new Set(),
    flushes: new Set(),
    publishOffers,
  }
  const { open, interrupted, tooLong, flushes } = editors
  let user: string | undefined

  function publishOffers() {
    const offered = cache.ofUser(user).filter(({ id }) => !open.has(id))
    onOffers(
      offered.map(({ id, kind, name, keptAt }) => ({ id, kind, name, keptAt, isInterrupted: interrupted.has(id) })),
    )
  }

  const flush = () => {
    for (const flushEditor of flushes) flushEditor()
  }
  const refresh = async () => {
    const isRead = await cache.read(
      () => user,
      (id) => open.has(id),
    )
    if (isRead) publishOffers()
  }

  return {
    /** Undefined if no user is known. */
    open: (subject: Subject, read: () => DraftContent | undefined) =>
      user === undefined ? undefined : openSlot(editors, user, subject, read),
    contentOf: (id: string) => cache.get(id)?.content,
    discard(id: string) {
      cache.remove(id)
      publishOffers()
    },
    /** Writes pending changes at once, because the page may be about to close. */
    flush,
    /** Flushes. Resolves to whether all open drafts are in the database. */
    async settle() {
      flush()
      await Promise.race([database.read(), new Promise((resolve) => setTimeout(resolve, SETTLE_TIMEOUT_MS))])
      return cache.isWritten() && tooLong.size === 0
    },
    /** Reads the drafts of other tabs and earlier visits. */
    refresh,
    async begin(owner: string | undefined) {
      user = owner
      publishOffers()
      await refresh()
    },
    /** Ends the session. Drafts keep their content; a deliberate sign-out discards those that are open. */
    end(reason: SessionEnd) {
      flush()
      flushes.clear()
      if (reason === 'signedOut') cache.remove(...open)
      for (const id of open) interrupted.add(id)
      open.clear()
      user = undefined
      publishOffers()
    },
  }
}
