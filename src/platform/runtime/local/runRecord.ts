import { randomUUID } from 'node:crypto'
import { isAlive } from '../../processLock'
import { readJsonFiles } from '../jsonFiles'
import type { InstanceSpec, RuntimeInstance } from '../runtime'

/** What is on disk of a run, for a host that comes after this one. */
export interface RunRecord extends RuntimeInstance {
  pid: number | undefined
  /** See startTimeOf. */
  pidStartTime: string
  /** How it is stopped in order. Absent in records of versions whose pipes ended with their host. */
  stop?: InstanceSpec['stop']
}

/** The record of a run that has no process yet. */
export function newRun({ podName, port, stop }: Pick<InstanceSpec, 'podName' | 'port' | 'stop'>): RunRecord {
  return {
    podName,
    runId: randomUUID(),
    state: 'STARTING',
    ip: '127.0.0.1',
    port,
    startedAt: Date.now(),
    exit: undefined,
    pid: undefined,
    pidStartTime: '',
    stop,
  }
}

/**
 * The records of all last runs.
 * @param directory of the host; need not exist.
 */
export function readRunRecords(directory: string): RunRecord[] {
  return readJsonFiles(directory)
}

/** Whether the process of a run goes on. */
export function isRunning({ state, pid, pidStartTime }: RunRecord): boolean {
  return state !== 'EXITED' && pid !== undefined && pidStartTime !== '' && isAlive(pid, pidStartTime)
}
