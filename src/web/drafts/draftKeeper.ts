import { nanoid } from '@reduxjs/toolkit'
import type { SessionEnd } from '../facts'
import type { Draft, DraftContent, Offer, Subject } from './draft'
import type { DraftDatabase } from './draftDatabase'

/** Writes of one editor are at least this far apart. In milliseconds. */
export const WRITE_INTERVAL_MS = 1000
/** A database of the browser may hang: then nobody waits for it any longer. In milliseconds. */
export const SETTLE_MS = 3000
/** In milliseconds. */
export const LIFETIME_MS = 7 * 86_400_000
/** As much as the platform lets be edited (decisions §3). In characters. */
export const MAX_LENGTH = 5 * 2 ** 20
/** Of one user. In characters. */
export const MAX_TOTAL_LENGTH = 20 * 2 ** 20

/** The place of one open editor among the drafts. */
export type DraftSlot = {
  /** The content is another by now; it is read when it is written. */
  changed: () => void
  /** It was saved, or the user gave it up. */
  drop: () => void
  /** Goes on with an offered draft. What this editor held is offered in its place. */
  take: (id: string) => DraftContent | undefined
  /** The editor is gone. What it held, and did not drop, is offered. */
  close: () => void
}

export type DraftKeeper = ReturnType<typeof createDraftKeeper>

type Outside = { database: DraftDatabase; now: () => number; onOffers: (offers: Offer[]) => void }

/**
 * Keeps what is being edited by one user, in memory and in the browser's database. Each open editor writes a draft of its
 * own, so that neither another tab nor a second visit overwrites what is still on offer.
 */
export function createDraftKeeper({ database, now, onOffers }: Outside) {
  const drafts = new Map<string, Draft>()
  /** What the database does not know yet: newer contents, and removals. */
  const unwritten = new Set<string>()
  const removed = new Set<string>()
  const interrupted = new Set<string>()
  /** Open editors whose content is not kept. */
  const tooLong = new Set<string>()
  /** The drafts that an editor of this page has open. */
  const open = new Set<string>()
  const flushes = new Set<() => void>()
  let user: string | undefined

  const tell = () => {
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

  /** The oldest go first, and never the one that is written now. */
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
    tell()
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
        tell()
      },
      take(taken) {
        const draft = drafts.get(taken)
        if (!isOpen || draft?.user !== owner) return undefined
        flush()
        open.delete(id)
        id = taken
        open.add(id)
        interrupted.delete(id)
        tell()
        return draft.content
      },
      close() {
        flush()
        flushes.delete(flush)
        tooLong.delete(id)
        isOpen = false
        if (open.delete(id)) tell()
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
      tell()
    },
    /** Writes at once what would be written soon: the page may be about to end. */
    flush: flushAll,
    /** As `flush`; whether everything that is being edited is in the database then. */
    async settle() {
      flushAll()
      await Promise.race([database.read(), new Promise((resolve) => setTimeout(resolve, SETTLE_MS))])
      return unwritten.size === 0 && tooLong.size === 0
    },
    /** Reads what other tabs and earlier visits kept. */
    refresh,
    async begin(owner: string | undefined) {
      user = owner
      tell()
      await refresh()
    },
    /** The session is over: what its editors hold is kept as it is now, and nothing that happens to them later. Who signed out has given it up. */
    end(reason: SessionEnd) {
      flushAll()
      flushes.clear()
      if (reason === 'signedOut') remove(...open)
      for (const id of open) interrupted.add(id)
      open.clear()
      user = undefined
      tell()
    },
  }
}

const lengthOf = (content: DraftContent) =>
  Object.values(content).reduce<number>((sum, value) => sum + String(value).length, 0)
