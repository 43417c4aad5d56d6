import type { Instance, InstanceState } from '../../contract/instance'
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
import { uptimeText } from './quantities'
import type { Players } from './monitoring/serverListPing'
import type { UsageMeter } from './monitoring/usageMeter'

export interface InstanceParts {
  db: Db
  runtime: Runtime
  usage: UsageMeter
  players: PlayerWatch
  now: () => number
}

const NOBODY: Players = { count: 0, names: {} }

/**
 * Describes the instances of deployments; of disabled ones, only those that have not ended yet.
 * @returns a list for each of the deployments, by its name
 * @throws as `Runtime.list`
 */
export async function describeInstances(
  parts: InstanceParts,
  deployments: DeploymentRow[],
): Promise<Map<string, Instance[]>> {
  const { db, runtime, usage } = parts
  const only = deployments.length === 1 ? deployments[0]?.name : undefined
  const [rows, list, usageOf] = await Promise.all([listInstances(db, only), runtime.list(), usage.read()])
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
  { runtime, players, now }: InstanceParts,
  deployment: DeploymentRow,
  rows: InstanceRow[],
  runs: Map<string, RuntimeInstance>,
  usageOf: Awaited<ReturnType<UsageMeter['read']>>,
): Instance[] {
  const { definition } = tryParseDefinition(deployment.content)
  const unenforced = definition ? limitWarnings(definition, runtime) : []
  return rows.flatMap((row) => {
    const run = runs.get(row.pod_name)
    const isDown = !run || run.state === 'EXITED'
    if (isDown && !deployment.enabled) return []
    const instance = describe(
      row,
      { type: deployment.type, description: definition?.description },
      run,
      isDown ? NOBODY : players.playersOf(row.pod_name),
    )
    const lateStart = run && definition && lateStartOf(definition, run, now())
    const drains = {
      draining: isDraining(row, isDown ? undefined : run) || undefined,
      canDrain: definition?.drain !== undefined || undefined,
    }
    const plainCommands = definition?.plainCommands.length ? definition.plainCommands : undefined
    const portWarning = isDown ? undefined : players.portWarning(row.pod_name)
    const warnings = portWarning === undefined ? unenforced : [portWarning, ...unenforced]
    return [
      {
        ...instance,
        ...drains,
        lateStart,
        plainCommands,
        warnings: warnings.length > 0 ? warnings : undefined,
        retry: retryOf(row, run, now()),
        uptime: isDown ? '0s' : uptimeText(now() - run.startedAt),
        ...usageOf(row.pod_name, definition?.resources),
      },
    ]
  })
}

function describe(
  row: InstanceRow,
  { type, description }: { type: string; description: string | undefined },
  run: RuntimeInstance | undefined,
  players: Players | undefined,
): Omit<
  Instance,
  'uptime' | 'cpu' | 'memory' | 'lateStart' | 'retry' | 'warnings' | 'plainCommands' | 'draining' | 'canDrain'
> {
  const { uid, name, deployment } = row
  const live = run?.state === 'EXITED' ? undefined : run
  const common = {
    uid,
    name,
    description,
    deployment,
    podName: row.pod_name,
    ip: run?.ip ?? '',
    state: stateOf(row, run),
    port: live?.port,
    startedAt: live?.startedAt,
    restarts: row.restarts,
    lastExit: row.last_exit ?? undefined,
    crashedAt: row.crashed_at?.getTime(),
    blockedReason: row.blocked_reason ?? undefined,
  }
  if (type === 'process') return { ...common, type: 'process', connections: 0 }
  return {
    ...common,
    type: 'minecraft',
    players: players?.names ?? {},
    connections: players?.count ?? 0,
    playerCount: players?.count ?? null,
  }
}

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
  if (run && run.state !== 'EXITED') return run.state
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
