import { nanoid } from '@reduxjs/toolkit'
import type { SessionEnd } from '../facts'
import type { Draft, DraftContent, Offer, Subject } from './draft'
import type { DraftDatabase } from './draftDatabase'

/** Throttle of the writes of one editor. */
export const WRITE_INTERVAL_MS = 1000
/** Deadline, because IndexedDB may hang. */
export const SETTLE_TIMEOUT_MS = 3000
export const LIFETIME_MS = 7 * 86_400_000
/** The platform's limit for editable texts (decisions §3). In characters. */
export const MAX_LENGTH = 5 * 2 ** 20
/** Per user. In characters. */
export const MAX_TOTAL_LENGTH = 20 * 2 ** 20

/** The handle of an open editor. */
export type DraftSlot = {
  /** The content has changed. It is read when it is written. */
  changed: () => void
  /** Removes the draft: it was saved or discarded. */
  drop: () => void
  /** Continues with an offered draft. The draft that this editor had is offered instead. */
  restore: (id: string) => DraftContent | undefined
  /** The editor is closed. Its draft, if not dropped, is offered. */
  close: () => void
}

export type DraftKeeper = ReturnType<typeof createDraftKeeper>

type DraftKeeperOptions = { database: DraftDatabase; now: () => number; onOffers: (offers: Offer[]) => void }

/**
 * Keeps the drafts of one user in memory and in the database. Each open editor writes a draft of its own, so that no
 * other tab or visit overwrites a draft that is still offered.
 */
export function createDraftKeeper({ database, now, onOffers }: DraftKeeperOptions) {
  const drafts = new Map<string, Draft>()
  /** Changes that the database does not have yet: ids of written and of removed drafts. */
  const unwritten = new Set<string>()
  const removed = new Set<string>()
  const interrupted = new Set<string>()
  /** Open editors whose content exceeds MAX_LENGTH and is not kept. */
  const tooLong = new Set<string>()
  /** Drafts that are open in an editor of this page. */
  const open = new Set<string>()
  const flushes = new Set<() => void>()
  let user: string | undefined

  const publishOffers = () => {
    const offered = [...drafts.values()]
      .filter((draft) => draft.user === user && !open.has(draft.id))
      .sort((a, b) => b.keptAt - a.keptAt)
    onOffers(
      offered.map(({ id, kind, name, keptAt }) => ({ id, kind, name, keptAt, isInterrupted: interrupted.has(id) })),
    )
  }

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
    const newestFirst = [...drafts.values()]
      .filter((draft) => draft.user === written.user)
      .sort((a, b) => b.keptAt - a.keptAt)
    for (const draft of newestFirst) {
      total += lengthOf(draft.content)
      if (total > MAX_TOTAL_LENGTH && draft !== written) remove(draft.id)
    }
  }

  function put(draft: Draft) {
    drafts.set(draft.id, draft)
    unwritten.add(draft.id)
    removed.delete(draft.id)
    makeRoom(draft)
    void database.write(draft).then((isWritten) => isWritten && unwritten.delete(draft.id))
  }

  async function refresh() {
    const found = await database.read()
    if (!found) return
    const expired = found.filter(({ keptAt }) => now() - keptAt > LIFETIME_MS).map(({ id }) => id)
    if (expired.length > 0) void database.remove(expired)
    const valid = new Map(found.filter(({ id }) => !expired.includes(id)).map((draft) => [draft.id, draft]))
    for (const id of drafts.keys()) {
      // Another tab saved or discarded it.
      if (!open.has(id) && !unwritten.has(id) && !valid.has(id)) drafts.delete(id)
    }
    for (const draft of valid.values()) {
      const isOutdated = open.has(draft.id) || unwritten.has(draft.id) || removed.has(draft.id)
      if (draft.user === user && !isOutdated) drafts.set(draft.id, draft)
    }
    publishOffers()
  }

  function openSlot(subject: Subject, read: () => DraftContent | undefined): DraftSlot | undefined {
    const owner = user
    if (owner === undefined) return undefined
    let id = nanoid()
    let timer: ReturnType<typeof setTimeout> | undefined
    let isOpen = true
    open.add(id)

    const flush = () => {
      if (timer === undefined) return
      clearTimeout(timer)
      timer = undefined
      const content = read()
      const isTooLong = content !== undefined && lengthOf(content) > MAX_LENGTH
      if (isTooLong) tooLong.add(id)
      else tooLong.delete(id)
      if (content && !isTooLong) put({ ...subject, id, user: owner, keptAt: now(), content })
      else remove(id)
    }
    flushes.add(flush)

    return {
      changed() {
        if (isOpen && open.has(id)) timer ??= setTimeout(flush, WRITE_INTERVAL_MS)
      },
      drop() {
        clearTimeout(timer)
        timer = undefined
        tooLong.delete(id)
        remove(id)
        publishOffers()
      },
      restore(taken) {
        const draft = drafts.get(taken)
        if (!isOpen || draft?.user !== owner) return undefined
        flush()
        open.delete(id)
        id = taken
        open.add(id)
        interrupted.delete(id)
        publishOffers()
        return draft.content
      },
      close() {
        flush()
        flushes.delete(flush)
        tooLong.delete(id)
        isOpen = false
        if (open.delete(id)) publishOffers()
      },
    }
  }

  const flushAll = () => {
    for (const flush of flushes) flush()
  }

  return {
    open: openSlot,
    contentOf: (id: string) => drafts.get(id)?.content,
    discard(id: string) {
      remove(id)
      publishOffers()
    },
    /** Writes pending changes at once, because the page may be about to close. */
    flush: flushAll,
    /** Flushes. Resolves to whether all open drafts are in the database. */
    async settle() {
      flushAll()
      await Promise.race([database.read(), new Promise((resolve) => setTimeout(resolve, SETTLE_TIMEOUT_MS))])
      return unwritten.size === 0 && tooLong.size === 0
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
      flushAll()
      flushes.clear()
      if (reason === 'signedOut') remove(...open)
      for (const id of open) interrupted.add(id)
      open.clear()
      user = undefined
      publishOffers()
    },
  }
}

const lengthOf = (content: DraftContent) =>
  Object.values(content).reduce<number>((sum, value) => sum + String(value).length, 0)
