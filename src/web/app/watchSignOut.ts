import { addListener, isAnyOf } from '@reduxjs/toolkit'
import { readSession } from '../api/credentials'
import { pageShown, sessionEnded } from '../facts'
import { selectSession } from '../features/auth/sessionSlice'
import { connected, disconnected } from '../sockets/realtimeSlice'
import type { AppDispatch, AppStore, RootState, Services } from './types'

const listening = addListener.withTypes<RootState, AppDispatch, Services>()
/** The other tab forgets the session after the server has ended it, and with it this connection. In milliseconds. */
const CHECK_MS = 1000
const CHECKS = 10

/** A connection may be lost because another tab signed out or in: then this one follows as when it comes to the front, instead of trying again in vain. */
export function watchSignOut({ dispatch }: Pick<AppStore, 'dispatch'>) {
  dispatch(
    listening({
      actionCreator: disconnected,
      async effect(_action, listener) {
        listener.cancelActiveListeners()
        for (let check = 0; check < CHECKS; check++) {
          const known = selectSession(listener.getState())
          if (!known) return
          if (readSession(listener.extra)?.id !== known.id) listener.dispatch(pageShown())
          if (await listener.condition(isAnyOf(connected, sessionEnded), CHECK_MS)) return
        }
      },
    }),
  )
}
