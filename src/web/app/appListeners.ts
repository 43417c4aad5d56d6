import type { TypedStartListening } from '@reduxjs/toolkit'
import { addListener } from '@reduxjs/toolkit'
import { addAppMiddleware } from './dynamicMiddleware'
import type { Services } from './services'
import type { AppDispatch, RootState } from './types'

type ListenerOptions = Parameters<typeof addListener>[0]
type StartListening = TypedStartListening<RootState, AppDispatch, Services>

/**
 * Adds listeners when the file of their slice is loaded. `add` is called once for each store, before its next action:
 * the listener middleware belongs to a store, and has its services as `extra`.
 */
export const addAppListeners = (add: (startListening: StartListening) => void) =>
  addAppMiddleware(({ dispatch }) => {
    // The listener middleware answers the action with a function that removes the listener.
    const dispatchListener: unknown = (options: ListenerOptions) => dispatch(addListener(options))
    add(dispatchListener as StartListening)
    return (next) => next
  })
