import { useCallback, useLayoutEffect, useRef } from 'react'
import { useSelector, useStore } from 'react-redux'
import type { RootState } from '../app/types'
import type { DraftContent, Subject } from './draft'
import type { DraftSlot } from './draftKeeper'
import { selectOffer } from './draftsSlice'
import { keeperOf } from './keepDrafts'

/**
 * Keeps what an editor holds while it is open, and tells what is on offer for it. `read` answers the content, or undefined
 * where there is nothing to keep; it is called when a draft is written, not with every key.
 */
export function useDraft({ kind, name }: Subject, read: () => DraftContent | undefined) {
  const store = useStore<RootState>()
  const offer = useSelector((state: RootState) => selectOffer(state, { kind, name }))
  const session = useSelector((state: RootState) => state.session.current?.id)
  const latest = useRef(read)
  const slot = useRef<DraftSlot>(undefined)

  useLayoutEffect(() => {
    latest.current = read
  })
  // Another session of the same page needs a place of its own, because the first one's user may be another.
  useLayoutEffect(() => {
    const opened = keeperOf(store)?.open({ kind, name }, () => latest.current())
    slot.current = opened
    return () => opened?.close()
  }, [store, session, kind, name])

  const changed = useCallback(() => slot.current?.changed(), [])
  return {
    offer,
    /** Of the offer. */
    content: offer && keeperOf(store)?.contentOf(offer.id),
    session,
    changed,
    drop: () => slot.current?.drop(),
    /** Answers what is on offer, which is this editor's own from now on. */
    take: () => offer && slot.current?.take(offer.id),
    /** As `take`, for what the end of a session interrupted on this page: nobody needs to be asked about it. */
    takeInterrupted() {
      const newest = selectOffer(store.getState(), { kind, name })
      return newest?.isInterrupted ? slot.current?.take(newest.id) : undefined
    },
    discard: () => offer && keeperOf(store)?.discard(offer.id),
  }
}
