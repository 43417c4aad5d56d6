import { isAnyOf } from '@reduxjs/toolkit'
import { readSession } from '../api/signIn/credentials'
import { pageShown, sessionEnded } from '../facts'
import { selectSession } from '../features/auth/sessionSlice'
import { connected, disconnected } from '../sockets/realtimeSlice'
import { addAppListeners } from './appListeners'

/** The other tab clears its cookies only after the server has closed this connection: check repeatedly. */
const CHECK_INTERVAL_MS = 1000
const CHECKS = 10

/** Another tab that signs out or in closes this connection. Follows its session instead of reconnecting in vain. */
addAppListeners((startListening) => {
  startListening({
    actionCreator: disconnected,
    async effect(_action, listener) {
      listener.cancelActiveListeners()
      for (let check = 0; check < CHECKS; check++) {
        const known = selectSession(listener.getState())
        if (!known) return
        if (readSession(listener.extra)?.id !== known.id) listener.dispatch(pageShown())
        if (await listener.condition(isAnyOf(connected, sessionEnded), CHECK_INTERVAL_MS)) return
      }
    },
  })
})
