import type { Middleware, Reducer, StateFromReducersMapObject } from '@reduxjs/toolkit'
import { combineReducers, configureStore } from '@reduxjs/toolkit'
import { api } from '../api/api'
import { forgetSession, readPendingLogin, readSession } from '../api/credentials'
import { sessionStarted } from '../facts'
import { loginSlice, resumed } from '../features/auth/loginSlice'
import { registrationSlice } from '../features/auth/registrationSlice'
import { sessionSlice } from '../features/auth/sessionSlice'
import { configurationSlice } from '../features/deployments/configurationSlice'
import { deploymentsSlice } from '../features/deployments/deploymentsSlice'
import type { InstanceViewState } from '../features/instance/instanceSlice'
import { notificationsSlice } from '../features/notifications/notificationsSlice'
import { overviewSlice } from '../features/overview/overviewSlice'
import type { ConnectConsole } from '../sockets/consoleLink'
import type { ConsoleState } from '../sockets/consoleSlice'
import type { ConnectRealtime } from '../sockets/fileSyncSocket'
import { createFileSyncSocket } from '../sockets/fileSyncSocket'
import { realtimeSlice } from '../sockets/realtimeSlice'
import { createListeners } from './listeners'
import { navigationSlice } from './navigationSlice'
import { THEME_KEY, THEMES, themeChosen, themeSlice } from './themeSlice'
import type { Services } from './types'

const reducers = {
  [api.reducerPath]: api.reducer,
  configuration: configurationSlice.reducer,
  deployments: deploymentsSlice.reducer,
  login: loginSlice.reducer,
  navigation: navigationSlice.reducer,
  notifications: notificationsSlice.reducer,
  overview: overviewSlice.reducer,
  realtime: realtimeSlice.reducer,
  registration: registrationSlice.reducer,
  session: sessionSlice.reducer,
  theme: themeSlice.reducer,
}

/** What comes with the instance page (addConsole.ts). */
type LateState = { console: ConsoleState; instance: InstanceViewState }
type LateReducers = { [Name in keyof LateState]: Reducer<LateState[Name]> }
type State = StateFromReducersMapObject<typeof reducers> & Partial<LateState>

type Parts = Services & { connectConsole: ConnectConsole; connectRealtime: ConnectRealtime }

/** Everything the console reaches outside itself is handed in: tests and replay hand in fakes. */
export function makeStore({ connectConsole, connectRealtime, ...services }: Parts) {
  let fillPlace: (late: Middleware) => void
  const placeOfConsoleSocket: Middleware = (store) => (next) => {
    let handle = next
    fillPlace = (late) => {
      handle = late(store)(next)
    }
    return (action) => handle(action)
  }

  const reducer: Reducer<State> = combineReducers(reducers)
  const store = configureStore({
    reducer,
    // The order is part of the design: facts reach the listeners first, the sockets after the api.
    middleware: (getDefault) =>
      getDefault({
        thunk: { extraArgument: services },
        // Thousands of lines, frozen by who made them: in development, looking through them takes longer than drawing them.
        serializableCheck: { ignoredActions: ['console/linesReceived'], ignoredPaths: ['console.buffer'] },
      })
        .prepend(createListeners(services))
        .concat(api.middleware, placeOfConsoleSocket, createFileSyncSocket(connectRealtime)),
  })

  const theme = THEMES.find((name) => name === services.storage.getItem(THEME_KEY))
  if (theme) store.dispatch(themeChosen(theme))

  const session = readSession(services)
  const pending = readPendingLogin(services)
  if (session) store.dispatch(sessionStarted(session))
  else forgetSession(services)
  if (!session && pending) store.dispatch(resumed(pending.username))

  return Object.assign(store, {
    addConsole(late: LateReducers, createSocket: (connect: ConnectConsole) => Middleware) {
      store.replaceReducer(combineReducers({ ...reducers, ...late }) as Reducer<State>)
      fillPlace(createSocket(connectConsole))
    },
  })
}
