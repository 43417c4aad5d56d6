import type { Logger } from 'pino'
import type { Runtime, RuntimeInstance } from '../runtime/runtime'
import type { Replicas } from '../share/replicas'
import type { ShareParts } from '../share/shareMarker'
import type { Db } from '../state/db'
import type { Discovery } from './discovery'
import type { Listening } from './listeningSockets'
import type { PlayerWatch } from './players'

/** What the manager's passes work with. */
export interface ReconcileParts extends ShareParts {
  db: Db
  runtime: Runtime
  players: PlayerWatch
  /** Who listens on the ports of this machine. */
  listening: () => Promise<Listening | undefined>
  discovery: Discovery
  replicas: Replicas
  log: Logger
  now: () => number
  /** Since when a deployment has too many instances, by name. Lost with the platform, which only delays. */
  excessSince: Map<string, number>
  /** Deployments whose problem was logged, by name, with it: once is enough. */
  told: Map<string, string>
}

/** The runs of all instances, by podName. */
export type Runs = Map<string, RuntimeInstance>

/** Whether nothing of an instance runs. */
export function isOver(run: RuntimeInstance | undefined): run is undefined | (RuntimeInstance & { state: 'EXITED' }) {
  return !run || run.state === 'EXITED'
}
