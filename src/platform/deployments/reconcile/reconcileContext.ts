import type { Logger } from 'pino'
import type { InstanceSpec, Runtime, RuntimeInstance } from '../../runtime/runtime'
import type { Replicas } from '../../share/replicas/replicas'
import type { ShareLocation } from '../../share/shareMarker'
import type { Db } from '../../state/db'
import type { InstanceRow } from '../../state/deployments/instances'
import type { Discovery } from '../monitoring/discovery'
import type { Listening } from '../monitoring/listeningSockets'
import type { PlayerWatch } from '../monitoring/players'

/** Dependencies and state of the manager's passes. */
export interface ReconcileContext extends ShareLocation {
  db: Db
  runtime: Runtime
  players: PlayerWatch
  listening: () => Promise<Listening | undefined>
  /**
   * Whether the disk that an instance of this machine needs for its start has room, also for the copy of its files if
   * it runs in one; true for those of a cluster.
   */
  hasRoom: (spec: Pick<InstanceSpec, 'copy'>) => Promise<boolean>
  discovery: Discovery
  replicas: Replicas
  log: Logger
  now: () => number
  /** When a deployment first had too many instances, by name. Losing it only delays scaling down. */
  excessSince: Map<string, number>
  /** When the present drain of a run began, by run id: `since` as stored, `at` on the clock of `performance.now`. */
  drainsBegun: Map<string, { since: number; at: number }>
  /**
   * How often the start of an instance has failed in a row for want of something that its machine lacks, by pod name.
   * Losing it only shortens the delay before the next attempt.
   */
  failedStarts: Map<string, number>
  /** The last problem logged, by deployment or pod name, so that it is logged once. */
  loggedProblems: Map<string, string>
}

export type Runs = Map<string, RuntimeInstance>

/** Whether an instance has no live run. */
export function hasExited(
  run: RuntimeInstance | undefined,
): run is undefined | (RuntimeInstance & { state: 'EXITED' }) {
  return !run || run.state === 'EXITED'
}

/** Takes a step for one instance after another. One that fails must not hold up the others of its deployment. */
export async function forEachInstance(
  { log }: ReconcileContext,
  rows: InstanceRow[],
  step: (row: InstanceRow) => Promise<void>,
): Promise<void> {
  for (const row of rows) {
    try {
      await step(row)
    } catch (error) {
      log.error({ err: error, podName: row.pod_name }, 'failed to reconcile an instance; retrying')
    }
  }
}
