import { useCallback, useLayoutEffect, useRef } from 'react'
import { useAppSelector, useAppStore } from '../app/hooks'
import type { DraftContent, Subject } from './draft'
import type { DraftSlot } from './draftSlot'
import { selectOffer } from './draftsSlice'
import { keeperOf } from './keepDrafts'

/**
 * Keeps the draft of an open editor, and returns the draft that is offered for it. `read` returns the content, or
 * undefined if there is nothing to keep; it is called for each write, not for each keystroke.
 */
export function useDraft({ kind, name }: Subject, read: () => DraftContent | undefined) {
  const store = useAppStore()
  const offer = useAppSelector((state) => selectOffer(state, { kind, name }))
  const session = useAppSelector((state) => state.session.current?.id)
  const latest = useRef(read)
  const slot = useRef<DraftSlot>(undefined)

  useLayoutEffect(() => {
    latest.current = read
  })
  // A new session needs a new slot, because its user may be different.
  useLayoutEffect(() => {
    const opened = keeperOf(store)?.open({ kind, name }, () => latest.current())
    slot.current = opened
    return () => opened?.close()
  }, [store, session, kind, name])

  const changed = useCallback(() => slot.current?.changed(), [])
  return {
    offer,
    /** The content of the offer. */
    content: offer && keeperOf(store)?.contentOf(offer.id),
    session,
    changed,
    drop: () => slot.current?.drop(),
    /** Returns the offered content and makes the draft this editor's own. */
    restore: () => offer && slot.current?.restore(offer.id),
    /** Like `restore`, for a draft whose editor was closed by the end of the session: it is restored without asking. */
    restoreInterrupted() {
      const newest = selectOffer(store.getState(), { kind, name })
      return newest?.isInterrupted ? slot.current?.restore(newest.id) : undefined
    },
    discard: () => offer && keeperOf(store)?.discard(offer.id),
  }
}
