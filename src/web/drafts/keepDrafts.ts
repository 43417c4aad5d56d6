import { addListener } from '@reduxjs/toolkit'
import type { Services } from '../app/services'
import type { AppDispatch, AppThunk, RootState } from '../app/types'
import type { Session } from '../facts'
import { pageLeft, pageShown, sessionEnded, sessionStarted } from '../facts'
import { openDraftDatabase } from './draftDatabase'
import type { DraftKeeper } from './draftKeeper'
import { createDraftKeeper } from './draftKeeper'
import { offersChanged, selectOffers } from './draftsSlice'
import { userOf } from './userOf'

const listening = addListener.withTypes<RootState, AppDispatch, Services>()

const keepers = new WeakMap<object, DraftKeeper>()

/** Undefined for a replayed store: its editors read and write no drafts. */
export const keeperOf = (store: object) => keepers.get(store)

/** Creates the draft keeper of a store, so that drafts outlive the page. Does nothing if there is one. */
export const keepDrafts =
  (store: object): AppThunk =>
  (dispatch, getState, { drafts = openDraftDatabase(), now }) => {
    if (keepers.has(store)) return
    const keeper = createDraftKeeper({
      database: drafts,
      now,
      onOffers(offers) {
        if (JSON.stringify(offers) !== JSON.stringify(selectOffers(getState()))) dispatch(offersChanged(offers))
      },
    })
    keepers.set(store, keeper)
    const begin = (session: Session | null) => void keeper.begin(userOf(session))

    dispatch(listening({ actionCreator: sessionStarted, effect: ({ payload }) => begin(payload) }))
    // Runs before the page renders without the session, so that open editors can still be read.
    dispatch(listening({ actionCreator: sessionEnded, effect: ({ payload }) => keeper.end(payload) }))
    dispatch(listening({ actionCreator: pageLeft, effect: () => keeper.flush() }))
    dispatch(listening({ actionCreator: pageShown, effect: () => keeper.refresh() }))
    begin(getState().session.current)
  }
