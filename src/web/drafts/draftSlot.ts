import { nanoid } from '@reduxjs/toolkit'
import type { DraftContent, Subject } from './draft'
import type { DraftCache } from './draftCache'
import { lengthOf } from './draftCache'

/** Throttle of the writes of one editor. */
export const WRITE_INTERVAL_MS = 1000
/** The platform's limit for editable texts (decisions §3). In characters. */
export const MAX_LENGTH = 5 * 2 ** 20

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

/** State that the open editors of a page share. */
export type OpenEditors = {
  cache: DraftCache
  now: () => number
  /** Ids of the drafts that are open in an editor of this page. */
  open: Set<string>
  /** Ids of drafts whose editor was closed by the end of the session. */
  interrupted: Set<string>
  /** Ids of open drafts that exceed MAX_LENGTH and are not kept. */
  tooLong: Set<string>
  /** Functions that write what is pending, one for each editor. */
  flushes: Set<() => void>
  publishOffers: () => void
}

/** Opens a draft for an editor. `read` returns its content, or undefined if there is nothing to keep. */
export function openSlot(
  { cache, now, open, interrupted, tooLong, flushes, publishOffers }: OpenEditors,
  user: string,
  subject: Subject,
  read: () => DraftContent | undefined,
): DraftSlot {
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
    if (content && !isTooLong) cache.put({ ...subject, id, user, keptAt: now(), content })
    else cache.remove(id)
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
      cache.remove(id)
      publishOffers()
    },
    restore(taken) {
      const draft = cache.get(taken)
      if (!isOpen || draft?.user !== user) return undefined
      flush()
      // The restored draft takes the place of a text that is too long.
      tooLong.delete(id)
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
