import type { Middleware } from '@reduxjs/toolkit'
import { configureStore, createAction, isAction, Tuple } from '@reduxjs/toolkit'
import type { AppStore } from '../../app/store'
import type { State } from './steps'

const stateShown = createAction<State>('replay/stateShown')

/** The result of every dispatched thunk: a promise that never settles. */
const silent: Promise<never> = Object.assign(new Promise<never>(() => {}), {
  unsubscribe() {},
  abort() {},
  reset() {},
  updateSubscriptionOptions() {},
  refetch: () => silent,
  unwrap: () => silent,
  // The hooks of RTK Query compare this with their arguments.
  arg: {},
})
/** Replaces the functions that the hooks of RTK Query get from its middleware. */
const subscriptions = {
  isRequestSubscribed: () => false,
  getSubscriptions: () => new Map(),
  getSubscriptionCount: () => 0,
}

/** Ignores all actions and thunks of the pages. Only `show` changes the state. */
const mute: Middleware = () => (next) => (action) => {
  if (typeof action === 'function') return silent
  if (stateShown.match(action)) return next(action)
  return isAction(action) && action.type === 'api/subscriptions/internal_getRTKQSubscriptions' ? subscriptions : action
}

/** Creates a store for the pages of a replay. The store makes no calls and uses no sockets, storage or cookies. */
export function createReplayStore(state: State) {
  const store = configureStore({
    reducer: (shown: State = state, action) => (stateShown.match(action) ? action.payload : shown),
    middleware: () => new Tuple(mute),
    devTools: false,
  })
  const forPages = Object.assign(store, {
    tape: { handTo() {}, startedAt: 0, middleware: mute },
    begun: state,
  }) as unknown as AppStore
  let shown = { index: -1, rewinds: 0 }
  return {
    store: forPages,
    /** @param index the index of the action before the state, or -1 */
    show(next: State, index: number) {
      if (index !== shown.index) shown = { index, rewinds: shown.rewinds + (index < shown.index ? 1 : 0) }
      store.dispatch(stateShown(next))
    },
    /**
     * The index of the shown state's action, and how often an earlier state was shown after a later one. A new object
     * after each change.
     */
    shown: () => shown,
  }
}
