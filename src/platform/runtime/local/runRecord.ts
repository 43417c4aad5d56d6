import { randomUUID } from 'node:crypto'
import { isAlive, PROCESS_SCOPE } from '../../processLock'
import type { LocalSpec, RuntimeInstance, StoredRun } from '../runtime'

/** State of a run on disk, for the next host. */
export interface RunRecord extends RuntimeInstance, StoredRun {
  pid: number | undefined
  /** See startTimeOf. */
  pidStartTime: string
  /** How to stop it in order. Absent in records of versions whose pipes ended with the host. */
  stop?: LocalSpec['stop']
}

/** The record of a run that has no process yet. */
export function newRunRecord({
  podName,
  runId = randomUUID(),
  port,
  stop,
}: Pick<LocalSpec, 'podName' | 'runId' | 'port' | 'stop'>): RunRecord {
  return {
    podName,
    runId,
    state: 'STARTING',
    ip: '127.0.0.1',
    port,
    startedAt: Date.now(),
    exit: undefined,
    scope: PROCESS_SCOPE,
    pid: undefined,
    pidStartTime: '',
    stop,
  }
}

/** Whether the process of a run still exists. */
export function isRunning({ state, pid, pidStartTime }: RunRecord): boolean {
  return state !== 'EXITED' && pid !== undefined && pidStartTime !== '' && isAlive(pid, pidStartTime)
}
