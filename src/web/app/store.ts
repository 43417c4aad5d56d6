import type { Middleware, Reducer, StateFromReducersMapObject } from '@reduxjs/toolkit'
import { combineReducers, configureStore } from '@reduxjs/toolkit'
import { build } from '../actionLog/build'
import { createTape } from '../actionLog/record/tape'
import { api } from '../api/api'
import { bearerToken, forgetSession, readPendingLogin, readSession } from '../api/credentials'
import { sessionEnded, sessionStarted } from '../facts'
import { loginResumed } from '../features/auth/loginSlice'
import type { ConnectRealtime } from '../sockets/realtimeSocket'
import { createRealtimeSocket } from '../sockets/realtimeSocket'
import { createListeners } from './listeners'
import type { LateState, Outside, Part } from './pages/part'
import { reducers } from './reducers'
import { THEME_KEY, THEMES, themeChosen } from './themeSlice'

type State = StateFromReducersMapObject<typeof reducers> & Partial<LateState>

/** Everything outside the store is passed in, so that tests and replay can pass fakes. */
export function makeStore({ connectRealtime, ...outside }: Outside & { connectRealtime: ConnectRealtime }) {
  const { connectConsole: _, sendUpload: __, ...services } = outside
  let late: Partial<Part['reducers']> = {}
  let addMiddleware: (added: Middleware) => void
  const placeOfParts: Middleware = (store) => (next) => {
    let handle = next
    addMiddleware = (added) => {
      handle = added(store)(handle)
    }
    return (action) => handle(action)
  }

  const tape = createTape(services.now)
  let reducer: Reducer<State> = combineReducers(reducers)
  const store = configureStore({
    reducer,
    devTools: { name: 'Quarterdeck', trace: build === 'development', ...tape.devTools },
    // The order matters: listeners run first, sockets after the api, and the log last.
    middleware: (getDefault) =>
      getDefault({
        thunk: { extraArgument: services },
        // Thousands of frozen lines: in development, checking them takes longer than rendering them.
        serializableCheck: { ignoredActions: ['console/linesReceived'], ignoredPaths: ['console.buffer'] },
      })
        .prepend(createListeners(services))
        .concat(api.middleware, placeOfParts, createRealtimeSocket(connectRealtime, services.now), tape.middleware),
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
    /** Runs the current reducers, including those of parts that were added later. */
    reduce: (...[state, action]: Parameters<typeof reducer>) => reducer(state, action),
    /** Does nothing if the part was added before. */
    addPart<Name extends keyof LateState>(part: Part<Name>) {
      if (Object.keys(part.reducers).every((name) => name in late)) return
      late = { ...late, ...part.reducers }
      reducer = combineReducers({ ...reducers, ...late }) as Reducer<State>
      store.replaceReducer(reducer)
      if (part.middleware) addMiddleware(part.middleware(outside))
      part.begin?.(store)
    },
  })
}
