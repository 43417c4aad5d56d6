import { randomUUID } from 'node:crypto'
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { readJsonFiles, replaceJsonFile } from '../jsonFiles'
import type { LocalSpec, RuntimeInstance } from '../runtime'
import type { Monitor } from './conmon'

/** State of an instance's last run on disk, for the next platform process. */
export interface RunRecord extends RuntimeInstance {
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
}

/** The record of a run without a container. */
export function newRunRecord(
  podName: string,
  { port, ready, stop }: Pick<LocalSpec, 'port' | 'ready' | 'stop'>,
  linesBefore: number,
): RunRecord {
  const run = {
    podName,
    runId: randomUUID(),
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
  all(): RunRecord[]
  /** A record that cannot be written, as on a full disk, is written by `saveLeft`. */
  save(record: RunRecord): void
  /** Writes what could not be written: the next platform ends a container whose record it does not find. */
  saveLeft(): void
  remove(podName: string): void
}

/** @param directory created if it is missing. @throws Node.js errors of the file system */
export function openRunRecords(directory: string, log: Logger): RunRecords {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const fileOf = (podName: string) => join(directory, `${podName}.json`)
  /** The newest records that could not be written, by pod name. */
  const left = new Map<string, RunRecord>()

  function save(record: RunRecord): void {
    try {
      replaceJsonFile(fileOf(record.podName), record)
      left.delete(record.podName)
    } catch (error) {
      if (!left.has(record.podName))
        log.warn({ err: error, podName: record.podName }, 'failed to write the record of a run; retrying')
      left.set(record.podName, record)
    }
  }

  return {
    all: () =>
      readJsonFiles(directory, (name, error) => log.warn({ err: error, name }, 'failed to read the record of a run')),
    save,
    saveLeft() {
      for (const record of [...left.values()]) save(record)
    },
    remove(podName) {
      left.delete(podName)
      rmSync(fileOf(podName), { force: true })
    },
  }
}
