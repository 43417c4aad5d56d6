import { randomUUID } from 'node:crypto'
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { readJsonFiles, replaceJsonFile } from '../jsonFiles'
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

export interface RunRecords {
  readonly directory: string
  all(): RunRecord[]
  /** @throws Node.js errors of the file system */
  store(record: RunRecord): void
  /** As `store`, but a record that cannot be stored, as on a full disk, is stored by a later `storeMissing`. */
  save(record: RunRecord): void
  storeMissing(): void
  remove(podName: string): void
}

/** The directory of the records, within that of the contained runtime. */
export const recordsIn = (directory: string): string => join(directory, 'runs')

/** @param directory created if it is missing. @throws Node.js errors of the file system */
export function openRunRecords(directory: string, log: Logger): RunRecords {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const fileOf = (podName: string) => join(directory, `${podName}.json`)
  /** Records that could not be stored, by pod name. */
  const missing = new Map<string, RunRecord>()

  function store(record: RunRecord): void {
    replaceJsonFile(fileOf(record.podName), { ...record, storedIn: directory })
    missing.delete(record.podName)
  }

  function save(record: RunRecord): void {
    try {
      store(record)
    } catch (error) {
      if (!missing.has(record.podName))
        log.warn({ err: error, podName: record.podName }, 'failed to write the record of a run; retrying')
      missing.set(record.podName, record)
    }
  }

  return {
    directory,
    all: () =>
      readJsonFiles(directory, (name, error) => log.warn({ err: error, name }, 'failed to read the record of a run')),
    store,
    save,
    storeMissing() {
      for (const record of missing.values()) save(record)
    },
    remove(podName) {
      missing.delete(podName)
      rmSync(fileOf(podName), { force: true })
    },
  }
}
