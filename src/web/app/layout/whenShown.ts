import { QueryStatus } from '@reduxjs/toolkit/query'
import type { AppStore } from '../store'
import type { RootState } from '../types'

/** Interval of checks in browsers without requestIdleCallback. */
const CHECK_MS = 200
/** Maximum delay by a call that hangs. */
const MAX_WAIT_MS = 5000

/**
 * Calls `act` in idle time when the page has its chunks and the responses to its calls. Returns a function that cancels
 * it.
 */
export function whenShown(store: AppStore, act: () => void): () => void {
  const began = performance.now()
  // The page shows the state of the last notification, which Redux Toolkit defers to the next frame.
  let shown = store.getState()
  const unsubscribe = store.subscribe(() => {
    shown = store.getState()
  })
  let cancel = () => {}
  const wait = () => {
    cancel = whenIdle(() => {
      const isReady = !isLoading(store.getState()) && !isLoading(shown)
      if (!isReady && performance.now() - began < MAX_WAIT_MS) return wait()
      unsubscribe()
      act()
    }, CHECK_MS)
  }
  wait()
  return () => {
    unsubscribe()
    cancel()
  }
}

const isLoading = ({ api }: RootState) =>
  document.documentElement.dataset.loading !== undefined ||
  Object.values(api.queries).some((query) => query?.status === QueryStatus.pending)

/**
 * Calls `act` in idle time. Returns a function that cancels it.
 * @param delayMs for browsers without requestIdleCallback
 */
export function whenIdle(act: () => void, delayMs: number): () => void {
  if (typeof requestIdleCallback === 'undefined') {
    const timer = setTimeout(act, delayMs)
    return () => clearTimeout(timer)
  }
  const request = requestIdleCallback(act)
  return () => cancelIdleCallback(request)
}
