import { randomUUID } from 'node:crypto'
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { readJsonFiles, replaceJsonFile } from '../jsonFiles'
import type { InstanceSpec, RuntimeInstance } from '../runtime'
import type { Monitor } from './containers'

/** What is on disk of the last run of an instance, for a platform that comes after this one. */
export interface RunRecord extends RuntimeInstance {
  /** Undefined before the first start of a container. */
  containerId: string | undefined
  monitor: Monitor | undefined
  /** Of the container's first process, as the machine counts them. */
  pid: number | undefined
  /** Of the container's control group; undefined where limits are not enforced. */
  cgroup: string | undefined
  /** The number of the last console line before this run. */
  linesBefore: number
  ready: string | undefined
  stop: InstanceSpec['stop']
  /** When stop was asked for, and when SIGTERM was sent; milliseconds since the epoch. */
  stopAt: number | undefined
  termAt: number | undefined
}

/** A run that has no container yet. */
export function newRecord(
  podName: string,
  { port, ready, stop }: Pick<InstanceSpec, 'port' | 'ready' | 'stop'>,
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
  /** A full disk loses the newest state of a run, which the next platform finds out by looking at its container. */
  save(record: RunRecord): void
  remove(podName: string): void
}

export function openRunRecords(directory: string, log: Logger): RunRecords {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const fileOf = (podName: string) => join(directory, `${podName}.json`)
  return {
    all: () =>
      readJsonFiles(directory, (name, error) => log.warn({ err: error, name }, 'the record of a run cannot be read')),
    save(record) {
      try {
        replaceJsonFile(fileOf(record.podName), record)
      } catch (error) {
        log.warn({ err: error, podName: record.podName }, 'the record of a run could not be written')
      }
    },
    remove(podName) {
      rmSync(fileOf(podName), { force: true })
    },
  }
}
