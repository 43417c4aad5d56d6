import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { PROCESS_SCOPE } from '../../processLock'
import { openRunRecords, type RunRecords } from '../runRecords'
import type { LocalSpec, RuntimeInstance, StoredRun } from '../runtime'
import { isMonitorAlive, type Monitor } from './conmon'

/** State of an instance's last run on disk, for the next platform process. */
export interface RunRecord extends RuntimeInstance, StoredRun {
  /** Undefined before the container is created. */
  containerId: string | undefined
  monitor: Monitor | undefined
  /** Pid of the container's first process, in the host's PID namespace. */
  pid: number | undefined
  /** See startTimeOf. Absent in records of older versions. */
  pidStartTime?: string
  /** Path of the container's cgroup; undefined if limits are not enforced. */
  cgroup: string | undefined
  /** Number of the last console line before this run. */
  linesBefore: number
  ready: string | undefined
  stop: LocalSpec['stop']
  /** Times of the stop request and of SIGTERM, in milliseconds since the epoch. */
  stopAt: number | undefined
  termAt: number | undefined
  /** Whether the stop command is still to be sent: it waits for the end of the start. Absent in older records. */
  isStopCommandDue?: boolean
  /** Whether SIGKILL was sent. */
  isKilled?: boolean
}

/** Whether the monitor of a run's container still exists. */
export function isRunning({ state, monitor }: RunRecord): boolean {
  return state !== 'EXITED' && monitor !== undefined && isMonitorAlive(monitor)
}

/** The record of a run without a container. */
export function newRunRecord(
  podName: string,
  { runId = randomUUID(), port, ready, stop }: Pick<LocalSpec, 'runId' | 'port' | 'ready' | 'stop'>,
  linesBefore: number,
): RunRecord {
  const run = {
    podName,
    runId,
    state: 'STARTING',
    ip: '127.0.0.1',
    port,
    startedAt: Date.now(),
    exit: undefined,
    scope: PROCESS_SCOPE,
  } as const
  return {
    ...run,
    containerId: undefined,
    monitor: undefined,
    pid: undefined,
    cgroup: undefined,
    linesBefore,
    ready,
    stop,
    stopAt: undefined,
    termAt: undefined,
  }
}

/** The directory of the records, within that of the contained runtime. */
export const recordsIn = (directory: string): string => join(directory, 'runs')

/** @param directory created if it is missing. @throws Node.js errors of the file system */
export function openContainedRecords(directory: string, log: Logger): RunRecords<RunRecord> {
  return openRunRecords(directory, {
    onUnwritable: (podName, error) =>
      log.warn({ err: error, podName }, 'failed to write the record of a run; retrying'),
    onUnreadable: (name, error) => log.warn({ err: error, name }, 'failed to read the record of a run'),
  })
}
