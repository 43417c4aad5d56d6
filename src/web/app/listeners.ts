import type { Middleware } from '@reduxjs/toolkit'
import { createListenerMiddleware } from '@reduxjs/toolkit'
import { api } from '../api/api'
import { authApi } from '../api/signIn/auth'
import { forgetPendingLogin, forgetSession, readSession } from '../api/signIn/credentials'
import type { SessionEnd } from '../facts'
import { notified, pageShown, sessionEnded, sessionStarted } from '../facts'
import { loginRestarted } from '../features/auth/loginSlice'
import { selectSession } from '../features/auth/sessionSlice'
import { dismissed } from '../features/notifications/notificationsSlice'
import { THEME_KEY, themeChosen } from './themeSlice'
import type { Services } from './services'
import type { AppDispatch, RootState } from './types'

const NOTIFICATION_MS = 5000
/** setTimeout overflows at 24.8 days, and a session may last longer. */
const LONGEST_DELAY_MS = 86_400_000

/** Side effects of actions: cookies, storage, timers and further actions. */
export function createListeners(services: Services): Middleware {
  const { middleware, startListening } = createListenerMiddleware<RootState, AppDispatch, Services>({ extra: services })

  /** Cookies are shared between tabs, so they decide who is signed in here. */
  const catchUp = (
    { dispatch, getState }: { dispatch: AppDispatch; getState: () => RootState },
    reason: SessionEnd,
  ) => {
    const known = selectSession(getState())
    const found = readSession(services)
    if (known?.id === found?.id) return
    if (known) dispatch(sessionEnded(reason))
    if (found) dispatch(sessionStarted(found))
  }

  startListening({
    matcher: authApi.endpoints.verifyLogin.matchFulfilled,
    effect({ payload: wrongCodes }, { dispatch }) {
      const session = readSession(services)
      if (session) dispatch(sessionStarted({ ...session, wrongCodes }))
    },
  })

  startListening({
    matcher: authApi.endpoints.logout.matchFulfilled,
    effect: (_action, { dispatch }) => void dispatch(sessionEnded('signedOut')),
  })

  startListening({
    actionCreator: sessionStarted,
    async effect({ payload }, listener) {
      listener.cancelActiveListeners()
      for (let left; (left = payload.expiresAt - services.now()) > 0;)
        await listener.delay(Math.min(left, LONGEST_DELAY_MS))
      catchUp(listener, 'expired')
    },
  })

  startListening({
    actionCreator: sessionEnded,
    effect({ payload: reason }, { dispatch }) {
      // Another tab may have signed in; its cookies must stay.
      const isOurs = reason === 'signedOut' || reason === 'refused' || !readSession(services)
      if (isOurs) forgetSession(services)
      // Cached data of one user must not reach the next.
      dispatch(api.util.resetApiState())
    },
  })

  startListening({
    actionCreator: pageShown,
    effect: (_action, listener) => catchUp(listener, 'gone'),
  })

  startListening({ actionCreator: loginRestarted, effect: () => forgetPendingLogin(services) })

  startListening({
    actionCreator: themeChosen,
    effect: ({ payload }) => services.storage.setItem(THEME_KEY, payload),
  })

  startListening({
    actionCreator: notified,
    // One notification at a time, the oldest first (product §4).
    async effect(_action, listener) {
      for (let oldest; (oldest = listener.getState().notifications[0]);) {
        const { id } = oldest
        const isGone = (_: unknown, state: RootState) =>
          !state.notifications.some((notification) => notification.id === id)
        if (!(await listener.condition(isGone, NOTIFICATION_MS))) listener.dispatch(dismissed(id))
      }
    },
  })

  return middleware
}
