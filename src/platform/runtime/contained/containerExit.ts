import { constants } from 'node:os'
import type { InstanceExit } from '../runtime'

/**
 * Describes the end of a run at the present time.
 * @param code the container's exit code; undefined if unknown, or if nothing was started
 * @param failure a text for users
 * @param isOrderly whether a program with an unknown exit code ended in order, if it was stopped
 */
export function exitOf(
  code: number | undefined,
  isStopped: boolean,
  failure: string | undefined,
  isOrderly = failure === undefined,
): InstanceExit {
  const signal = code === undefined ? undefined : signalOf(code)
  return {
    code: signal ? null : (code ?? null),
    signal: signal ?? null,
    at: Date.now(),
    requested: isStopped,
    orderly: (isStopped || code === 0) && isOrderly && signal !== 'SIGKILL',
    failure,
  }
}

/** Shells and conmon report the end by a signal as 128 plus its number. */
function signalOf(code: number): string | undefined {
  return Object.entries(constants.signals).find(([, number]) => number === code - 128)?.[0]
}
