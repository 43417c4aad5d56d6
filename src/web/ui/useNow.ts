import { useSyncExternalStore } from 'react'
import { clock, onClockSet } from './clock'

/** How often what is told relative to now is told anew. In milliseconds. */
const BEAT_MS = 10_000

function subscribe(listener: () => void) {
  const timer = setInterval(listener, BEAT_MS)
  const stop = onClockSet(listener)
  return () => {
    clearInterval(timer)
    stop()
  }
}

/** Milliseconds since the epoch, to ten seconds. */
export const useNow = () => useSyncExternalStore(subscribe, () => Math.floor(clock() / BEAT_MS) * BEAT_MS)
