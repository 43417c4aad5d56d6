import type { Definition } from '../../contract/deployment'
import type { Instance, InstanceState } from '../../contract/instance'
import { silentSince } from '../runtime/contact'
import type { Runtime, RuntimeInstance } from '../runtime/runtime'
import type { Db } from '../state/db'
import { findDeployment, type DeploymentRow } from '../state/deployments/deployments'
import { findInstanceByPod, groupByDeployment, listInstances, type InstanceRow } from '../state/deployments/instances'
import { BLOCK_AFTER, attemptNumber } from './reconcile/crashes'
import { tryParseDefinition } from './definitions'
import { isDraining } from './reconcile/drain'
import { limitWarnings } from './limitWarnings'
import { lateStartOf } from './reconcile/lateStart'
import type { PlayerWatch } from './monitoring/players'
import { bytesOf, coresOf, uptimeText } from './quantities'
import type { Players } from './monitoring/serverListPing'
import type { UsageMeter } from './monitoring/usageMeter'

export interface InstanceParts {
  db: Db
  runtime: Runtime
  usage: UsageMeter
  players: PlayerWatch
  now: () => number
}

const NO_PLAYERS: Players = { count: 0, names: {} }

/**
 * Describes the instances of deployments; of disabled ones, only those that have not ended yet.
 * @param isAll whether there are no other deployments
 * @returns a list for each of the deployments, by its name
 * @throws as `Runtime.list`
 */
export async function describeInstances(
  parts: InstanceParts,
  deployments: DeploymentRow[],
  isAll = false,
): Promise<Map<string, Instance[]>> {
  const { db, runtime, usage } = parts
  const names = isAll ? undefined : deployments.map(({ name }) => name)
  const [rows, list, usageOf] = await Promise.all([listInstances(db, names), runtime.list(), usage.read()])
  const runs = new Map(list.map((run) => [run.podName, run]))
  const rowsOf = groupByDeployment(rows)
  return new Map(
    deployments.map((deployment) => [
      deployment.name,
      describeDeployment(parts, deployment, rowsOf.get(deployment.name) ?? [], runs, usageOf),
    ]),
  )
}

function describeDeployment(
  parts: InstanceParts,
  deployment: DeploymentRow,
  rows: InstanceRow[],
  runs: Map<string, RuntimeInstance>,
  usageOf: Awaited<ReturnType<UsageMeter['read']>>,
): Instance[] {
  const { definition } = tryParseDefinition(deployment.content)
  const unenforced = definition ? limitWarnings(definition, parts.runtime) : []
  const { type } = deployment
  const clusterSilentSince = silentSince(parts.runtime)
  return rows.flatMap((row) => {
    const run = runs.get(row.pod_name)
    if (!isLive(run) && !deployment.enabled) return []
    const usage = usageOf(row.pod_name, definition?.resources)
    return [describe(parts, row, run, { type, definition, unenforced, usage, clusterSilentSince })]
  })
}

interface Described {
  type: string
  definition: Definition | undefined
  /** Warnings of the deployment. */
  unenforced: string[]
  usage: Pick<Instance, 'cpu' | 'memory'>
  clusterSilentSince: number | undefined
}

/** One literal without spreads: V8 takes a hundred times as long for spreads at this size. */
function describe(
  { players: playerWatch, now }: InstanceParts,
  row: InstanceRow,
  run: RuntimeInstance | undefined,
  { type, definition, unenforced, usage, clusterSilentSince }: Described,
): Instance {
  const live = isLive(run) ? run : undefined
  const isGame = type !== 'process'
  const players = live ? playerWatch.playersOf(live) : NO_PLAYERS
  const portWarning = live && playerWatch.portWarning(row.pod_name)
  const ownWarnings = [live?.problem, portWarning].flatMap((warning) => warning ?? [])
  const warnings = ownWarnings.length === 0 ? unenforced : [...ownWarnings, ...unenforced]
  return {
    uid: row.uid,
    name: row.name,
    description: definition?.description,
    deployment: row.deployment,
    podName: row.pod_name,
    ip: run?.ip ?? '',
    state: stateOf(row, run),
    type: isGame ? 'minecraft' : 'process',
    players: isGame ? (players?.names ?? {}) : undefined,
    connections: players?.count ?? 0,
    playerCount: isGame ? (players?.count ?? null) : undefined,
    port: live?.port,
    startedAt: live?.startedAt,
    uptime: live ? uptimeText(now() - live.startedAt) : '0s',
    cpu: usage.cpu,
    memory: usage.memory,
    clusterSilentSince,
    dataDirectory: definition?.dataDirectory,
    node: live?.node,
    limits: limitsOf(definition?.resources),
    restarts: row.restarts,
    lastExit: row.last_exit ?? undefined,
    crashedAt: row.crashed_at?.getTime(),
    lateStart: run && definition && lateStartOf(definition, run, now()),
    retry: retryOf(row, run, now()),
    draining: isDraining(row, live) || undefined,
    canDrain: definition?.drain !== undefined || undefined,
    plainCommands: definition?.plainCommands.length ? definition.plainCommands : undefined,
    warnings: warnings.length > 0 ? warnings : undefined,
    blockedReason: row.blocked_reason ?? undefined,
  }
}

/** The limits in the units of metrics. */
function limitsOf(resources: Definition['resources']): Instance['limits'] {
  if (!resources) return undefined
  const { cpu, memory } = resources
  return {
    cpu: cpu === undefined ? undefined : coresOf(cpu) * 1000,
    memory: memory === undefined ? undefined : bytesOf(memory) / 1024,
  }
}

type LiveRun = RuntimeInstance & { state: Exclude<RuntimeInstance['state'], 'EXITED'> }

const isLive = (run: RuntimeInstance | undefined): run is LiveRun => run !== undefined && run.state !== 'EXITED'

/** The pending restart after a crash. */
function retryOf(row: InstanceRow, run: RuntimeInstance | undefined, now: number): Instance['retry'] {
  const { start_after: startAfter, crashes, wanted, blocked_reason: blockedReason } = row
  if (
    run?.state !== 'EXITED' ||
    row.handled_run !== run.runId ||
    startAfter === null ||
    wanted !== 'running' ||
    blockedReason !== null
  )
    return undefined
  return { inMs: Math.max(0, startAfter.getTime() - now), attempt: attemptNumber(crashes), of: BLOCK_AFTER }
}

function stateOf(
  { blocked_reason }: Pick<InstanceRow, 'blocked_reason'>,
  run: RuntimeInstance | undefined,
): InstanceState {
  if (isLive(run)) return run.state
  return blocked_reason === null ? 'STOPPED' : 'BLOCKED'
}

/** The state of one instance of a deployment; undefined if there is no such instance. */
export async function instanceState(
  { db, runtime }: Pick<InstanceParts, 'db' | 'runtime'>,
  deployment: string,
  podName: string,
): Promise<InstanceState | undefined> {
  const row = await findInstanceByPod(db, podName)
  if (row?.deployment !== deployment) return undefined
  return stateOf(
    row,
    (await runtime.list()).find((run) => run.podName === podName),
  )
}

/** First words of console commands that the definition calls harmless; none without a valid definition. */
export async function plainCommandsOf(db: Db, deployment: string): Promise<readonly string[]> {
  const row = await findDeployment(db, deployment)
  return (row && tryParseDefinition(row.content).definition?.plainCommands) ?? []
}
