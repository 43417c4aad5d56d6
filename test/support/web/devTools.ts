import type { Action, StoreEnhancer } from '@reduxjs/toolkit'

/**
 * Replaces the browser's Redux DevTools: sees actions below the middleware, and sets the state directly.
 * Import it before everything else: Redux Toolkit looks for the extension when it is loaded.
 */
export const devTools = {
  trace: undefined as boolean | undefined,
  /** The actions of the newest store that the tools received. */
  seen: [] as Action[],
  showState: (_state: unknown): unknown => undefined,
  jump: (_state: unknown) => {},
}

type Options = {
  trace: boolean
  actionSanitizer: (action: Action) => Action
  stateSanitizer: (state: unknown) => unknown
}
type Jump = Action & { state: never }

const extension = ({ trace, actionSanitizer, stateSanitizer }: Options) => {
  Object.assign(devTools, { trace, seen: [], showState: stateSanitizer })
  const enhancer: StoreEnhancer = (createStore) => (reducer, initial) => {
    const watched =
      (next: typeof reducer): typeof reducer =>
      (state, action) => {
        if (action.type === 'JUMP') return (action as unknown as Jump).state
        devTools.seen.push(actionSanitizer(action))
        return next(state, action)
      }
    const store = createStore(watched(reducer), initial)
    devTools.jump = (state) => void store.dispatch({ type: 'JUMP', state } as never)
    return { ...store, replaceReducer: (next) => store.replaceReducer(watched(next as never) as never) }
  }
  return (...others: StoreEnhancer[]) =>
    (create: Parameters<StoreEnhancer>[0]) =>
      others.reduceRight((made, other) => other(made), enhancer(create))
}
Object.assign(window, { __REDUX_DEVTOOLS_EXTENSION_COMPOSE__: extension })
