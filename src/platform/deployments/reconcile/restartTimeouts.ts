import type { RuntimeInstance } from '../../runtime/runtime'

/** Timeouts during the restart of several instances, in milliseconds. */
const RESTART_TIMEOUTS_MS = {
  /** For the first response to a ping after a start. */
  answer: 30_000,
  /** For the ready line. The restart then continues with the next instance. */
  ready: 120_000,
}

/** A start time in the future (the clock was set back) counts by its distance, so that the wait ends. */
export function hasTimedOut(
  { startedAt }: Pick<RuntimeInstance, 'startedAt'>,
  phase: keyof typeof RESTART_TIMEOUTS_MS,
  now: number,
): boolean {
  return Math.abs(now - startedAt) > RESTART_TIMEOUTS_MS[phase]
}
