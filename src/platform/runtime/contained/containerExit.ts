import { constants } from 'node:os'
import { hasRestarted, RESTARTED } from '../exitMessages'
import type { InstanceExit } from '../runtime'
import type { RunRecord } from './runRecord'

/** Why a run could not be started, its end is unknown, or something else ended it, as in `InstanceExit`. */
export interface RunFailure {
  failure?: string
  interruption?: string
  killed?: string
  isTemporary?: boolean
}

const UNKNOWN_EXIT: RunFailure = {
  failure: 'Ended; the exit code is unknown, because its monitor ended first or could not record it.',
}

/** If SIGKILL ended it: a program may go on when one of its processes was killed. */
const OUT_OF_MEMORY: RunFailure = {
  killed: 'Killed for memory: it needed more than it may use (resources.memory), or the machine had none left.',
}

/**
 * What ended a run other than its program, or hides how it ended.
 * @param code as for `exitOf`
 */
export function runFailureOf(
  { scope, state }: RunRecord,
  code: number | undefined,
  hasRunOutOfMemory: boolean,
): RunFailure | undefined {
  if (hasRunOutOfMemory && code !== undefined) return OUT_OF_MEMORY
  if (hasRestarted(scope) && (code === undefined || state !== 'STOPPING')) return { interruption: RESTARTED }
  return code === undefined ? UNKNOWN_EXIT : undefined
}

/**
 * Describes the end of a run at the present time.
 * @param code the container's exit code; undefined if unknown, or if nothing was started
 * @param isOrderly whether a program with an unknown exit code ended in order, if it was stopped
 */
export function exitOf(
  code: number | undefined,
  isStopped: boolean,
  failed: RunFailure | undefined,
  isOrderly = failed === undefined,
): InstanceExit {
  const signal = code === undefined ? undefined : signalOf(code)
  return {
    code: signal ? null : (code ?? null),
    signal: signal ?? null,
    at: Date.now(),
    requested: isStopped,
    orderly: (isStopped || code === 0) && isOrderly && signal !== 'SIGKILL',
    failure: failed?.failure,
    ...(failed?.isTemporary && { isTemporary: true }),
    ...(failed?.interruption !== undefined && { interruption: failed.interruption }),
    ...(failed?.killed !== undefined && signal === 'SIGKILL' && !isStopped && { killed: failed.killed }),
  }
}

/** Shells and conmon report the end by a signal as 128 plus its number. */
function signalOf(code: number): string | undefined {
  return Object.entries(constants.signals).find(([, number]) => number === code - 128)?.[0]
}
