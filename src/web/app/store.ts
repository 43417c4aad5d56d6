import { configureStore } from '@reduxjs/toolkit'
import { build } from '../actionLog/build'
import { createTape } from '../actionLog/record/tape'
import { api } from '../api/api'
import { bearerToken, forgetSession, readPendingLogin, readSession } from '../api/signIn/credentials'
import { sessionEnded, sessionStarted } from '../facts'
import { loginResumed } from '../features/auth/loginSlice'
import type { ConnectRealtime } from '../sockets/realtimeSocket'
import { createRealtimeSocket } from '../sockets/realtimeSocket'
import { dynamicMiddleware } from './dynamicMiddleware'
import { createListeners } from './listeners'
import { rootReducer } from './rootReducer'
import { THEME_KEY, THEMES, themeChosen } from './themeSlice'
import type { Services } from './services'

/** Everything outside the store is passed in, so that tests and replay can pass fakes. */
export function makeStore({ connectRealtime, ...services }: Services & { connectRealtime: ConnectRealtime }) {
  const tape = createTape(services.now)
  const store = configureStore({
    reducer: rootReducer,
    devTools: { name: 'Quarterdeck', trace: build === 'development', ...tape.devTools },
    // The order matters: listeners run first, sockets after the api, and the log last.
    middleware: (getDefault) =>
      getDefault({
        thunk: { extraArgument: services },
        // Thousands of frozen lines: in development, checking them takes longer than rendering them.
        serializableCheck: { ignoredActions: ['console/linesReceived'], ignoredPaths: [/buffer/] },
      })
        .prepend(createListeners(services))
        .concat(
          api.middleware,
          dynamicMiddleware,
          createRealtimeSocket(connectRealtime, services.now),
          tape.middleware,
        ),
  })
  const begun = store.getState()

  const theme = THEMES.find((name) => name === services.storage.getItem(THEME_KEY))
  if (theme) store.dispatch(themeChosen(theme))

  const session = readSession(services)
  const pending = readPendingLogin(services)
  if (session) store.dispatch(sessionStarted(session))
  else if (bearerToken(services)) store.dispatch(sessionEnded('expired'))
  else forgetSession(services)
  if (!session && pending) store.dispatch(loginResumed(pending.username))

  return Object.assign(store, {
    tape,
    /** The state before the first action. */
    begun,
  })
}

export type AppStore = ReturnType<typeof makeStore>
