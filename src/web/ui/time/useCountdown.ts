import { useState } from 'react'
import { useNow } from './useNow'

/** Counts down from `ms`. A new value restarts it. @returns whole seconds, at least 0. */
export function useCountdown(ms: number): number {
  const now = useNow(1000)
  const [from, setFrom] = useState({ ms, at: now })
  if (from.ms !== ms) setFrom({ ms, at: now })
  return Math.max(0, Math.ceil((from.ms - (now - from.at)) / 1000))
}
