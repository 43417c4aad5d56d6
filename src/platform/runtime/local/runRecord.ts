import { randomUUID } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isAlive } from '../../processLock'
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
  return { podName, runId: randomUUID(), state: 'STARTING', ip: '127.0.0.1', port, startedAt: Date.now(), exit: undefined, pid: undefined, pidStartTime: '', stop }
}

/**
 * The records of all last runs.
 * @param directory of the host; need not exist.
 */
export function readRunRecords(directory: string): RunRecord[] {
  let names: string[] = []
  try {
    names = readdirSync(directory).filter((name) => name.endsWith('.json'))
  } catch {
    return []
  }
  return names.flatMap((name) => {
    try {
      return [JSON.parse(readFileSync(join(directory, name), 'utf8')) as RunRecord]
    } catch {
      // Not a record that we wrote: records are replaced whole.
      return []
    }
  })
}

/** Whether the process of a run goes on. */
export function isRunning({ state, pid, pidStartTime }: RunRecord): boolean {
  return state !== 'EXITED' && pid !== undefined && pidStartTime !== '' && isAlive(pid, pidStartTime)
}
