import type { Middleware } from '@reduxjs/toolkit'
import { configureStore, createAction, isAction, Tuple } from '@reduxjs/toolkit'
import type { AppStore } from '../app/types'
import type { State } from './steps'

const stateShown = createAction<State>('replay/stateShown')

/** In place of a call's promise, and never kept. */
const silent: Promise<never> = Object.assign(new Promise<never>(() => {}), {
  unsubscribe() {},
  abort() {},
  reset() {},
  updateSubscriptionOptions() {},
  refetch: () => silent,
  unwrap: () => silent,
  // What the hooks compare with the arguments they were given.
  arg: {},
})
/** What the hooks of RTK Query ask of its middleware. */
const subscriptions = {
  isRequestSubscribed: () => false,
  getSubscriptions: () => new Map(),
  getSubscriptionCount: () => 0,
}

/** The pages ask, tell and send as ever, and nobody hears: the state is what `show` says, and nothing else. */
const mute: Middleware = () => (next) => (action) => {
  if (typeof action === 'function') return silent
  if (stateShown.match(action)) return next(action)
  return isAction(action) && action.type === 'api/subscriptions/internal_getRTKQSubscriptions' ? subscriptions : action
}

/** A store that the pages take for their own. It has no api, no socket, no storage and no cookies. */
export function createReplayStore(state: State) {
  const store = configureStore({
    reducer: (shown: State = state, action) => (stateShown.match(action) ? action.payload : shown),
    middleware: () => new Tuple(mute),
    devTools: false,
  })
  const forPages = Object.assign(store, {
    tape: { handTo() {}, startedAt: 0, middleware: mute },
    begun: state,
    reduce: (shown: State) => shown,
    addPart() {},
  }) as unknown as AppStore
  return { store: forPages, show: (next: State) => void store.dispatch(stateShown(next)) }
}
