import { useCallback, useState, useSyncExternalStore } from 'react'
import { clock, onClockSet } from './clock'

/** Default interval in which relative times are updated. */
const DEFAULT_INTERVAL_MS = 10_000

/** Returns the current time in milliseconds since the epoch, rounded down to the interval. */
export function useNow(intervalMs = DEFAULT_INTERVAL_MS): number {
  const subscribe = useCallback(
    (listener: () => void) => {
      const timer = setInterval(listener, intervalMs)
      const stop = onClockSet(listener)
      return () => {
        clearInterval(timer)
        stop()
      }
    },
    [intervalMs],
  )
  return useSyncExternalStore(subscribe, () => Math.floor(clock() / intervalMs) * intervalMs)
}

/** Counts down from `ms`. A new value restarts it. @returns whole seconds, at least 0. */
export function useCountdown(ms: number): number {
  const now = useNow(1000)
  const [from, setFrom] = useState({ ms, at: now })
  if (from.ms !== ms) setFrom({ ms, at: now })
  return Math.max(0, Math.ceil((from.ms - (now - from.at)) / 1000))
}
