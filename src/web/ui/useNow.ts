import { useCallback, useSyncExternalStore } from 'react'
import { clock, onClockSet } from './clock'

/** How often what is told relative to now is told anew. In milliseconds. */
const BEAT_MS = 10_000

/** Milliseconds since the epoch, to a beat: ten seconds, unless it is told another one. */
export function useNow(beatMs = BEAT_MS): number {
  const subscribe = useCallback(
    (listener: () => void) => {
      const timer = setInterval(listener, beatMs)
      const stop = onClockSet(listener)
      return () => {
        clearInterval(timer)
        stop()
      }
    },
    [beatMs],
  )
  return useSyncExternalStore(subscribe, () => Math.floor(clock() / beatMs) * beatMs)
}
