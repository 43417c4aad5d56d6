import { dataOf, exposeOf, type Definition } from '../../../contract/deployment'
import { listInContact } from '../../runtime/contact'
import type { PublishedDeployment, RuntimeInstance } from '../../runtime/runtime'
import { createJail } from '../../share/jail'
import { deleteDeployment, listDeployments, type DeploymentRow } from '../../state/deployments/deployments'
import {
  deleteInstance,
  groupByDeployment,
  listInstances,
  setExit,
  setDrain,
  setLateRun,
  endRestartOf,
  type InstanceRow,
} from '../../state/deployments/instances'
import { lastExitOf } from './crashCapsule'
import { MAX_RESTART_DELAY_MS } from './crashes'
import { recordExit } from './recordExit'
import { tryParseDefinition } from '../definitions'
import { isMountedAgain, requireDeploymentDirectory } from '../hostPaths'
import { dueAt, lateStartOf } from './lateStart'
import { hasTimedOut } from './restartTimeouts'
import { requestDrain, isBeingRemoved, advanceDrains } from './advanceDrains'
import { forEachInstance, hasExited, type ReconcileContext, type Runs } from './reconcileContext'
import { adjustInstances } from './scaling'
import { startInstance } from './startInstance'

/**
 * Compares the desired state with the actual one, once, and starts what is missing. It is idempotent and may be
 * interrupted at any point, because it decides only by the state and the runtime.
 * @throws AppError UNAVAILABLE while the cluster does not answer
 * @returns milliseconds until the next pass is due, for example for a start after a crash; undefined if none is
 */
export async function reconcile(context: ReconcileContext): Promise<number | undefined> {
  const { db, runtime, log } = context
  // Runs are read first: an instance that is added between the reads then has a row, and is not stopped as unknown.
  const actual = await listInContact(runtime)
  const [deployments, rows] = await Promise.all([listDeployments(db), listInstances(db)])
  const runs: Runs = new Map(actual.map((run) => [run.podName, run]))
  const delays: number[] = []
  const rowsOf = groupByDeployment(rows)
  for (const deployment of deployments) {
    const own = rowsOf.get(deployment.name) ?? []
    try {
      delays.push(...(await reconcileDeployment(context, deployment, own, runs)))
    } catch (error) {
      // One failing deployment must not hold up the others.
      log.error({ err: error, deployment: deployment.name }, 'failed to reconcile a deployment; retrying')
    }
  }
  await syncReplicaDirectories(context, deployments)
  await runtime.publish?.(deployments.flatMap(publishedOf)).catch((error: unknown) => {
    log.error({ err: error }, 'failed to publish the deployments; retrying')
  })
  const known = new Set(rows.map(({ pod_name }) => pod_name))
  for (const run of actual) {
    if (known.has(run.podName)) continue
    try {
      if (run.state === 'EXITED') await runtime.remove(run.podName)
      else await runtime.stop(run.podName)
    } catch (error) {
      log.error({ err: error, podName: run.podName }, 'failed to remove a run of no instance; retrying')
    }
  }
  for (const podName of context.failedStarts.keys()) if (!known.has(podName)) context.failedStarts.delete(podName)
  const drained = new Set(rows.map(({ drain_run }) => drain_run))
  for (const runId of context.drainsBegun.keys()) if (!drained.has(runId)) context.drainsBegun.delete(runId)
  return delays.length > 0 ? Math.min(...delays) : undefined
}

/** The published form of a deployment; none without a valid definition or without a port. */
function publishedOf({ name, content, deleting }: DeploymentRow): PublishedDeployment[] {
  const { definition } = tryParseDefinition(content)
  const port = definition?.run.port
  return definition && port !== undefined && !deleting ? [{ deployment: name, port, expose: exposeOf(definition) }] : []
}

/** Logs a deployment's problem once until it changes; undefined clears it. */
function logProblemOnce(
  { log, loggedProblems }: ReconcileContext,
  deployment: string,
  problem: string | undefined,
): void {
  if (problem === undefined) loggedProblems.delete(deployment)
  else if (loggedProblems.get(deployment) !== problem) {
    loggedProblems.set(deployment, problem)
    log.error({ deployment, problem }, 'a deployment cannot be reconciled')
  }
}

/**
 * Follows the directories whose instances run in copies (see `dataOf`) that are made from replicas. An unreadable
 * directory may still be needed, so nothing is pruned then. While the shared area is not mounted, no directory is
 * followed.
 */
async function syncReplicaDirectories(context: ReconcileContext, deployments: DeploymentRow[]): Promise<void> {
  const { runtime, shareDir, marker, replicas } = context
  const isMounted = await createJail(shareDir, marker)
    .root()
    .then(
      () => true,
      () => false,
    )
  if (!isMounted) return replicas.setWatched([])
  const directories = new Set<string>()
  let isComplete = true
  for (const deployment of deployments) {
    const { name, content, deleting } = deployment
    if (deleting) continue
    const stored = tryParseDefinition(content)
    let problem = stored.definition ? undefined : stored.problem
    const { definition } = stored
    if (definition) {
      await requireDeploymentDirectory(context, deployment, definition.dataDirectory).then(
        (directory) => runtime.usesReplicas && dataOf(definition) === 'copy' && directories.add(directory),
        (error: unknown) => (problem = error instanceof Error ? error.message : String(error)),
      )
    }
    logProblemOnce(context, name, problem)
    isComplete &&= problem === undefined
  }
  replicas.setWatched([...directories])
  if (isComplete) replicas.prune()
}

async function reconcileDeployment(
  context: ReconcileContext,
  deployment: DeploymentRow,
  rows: InstanceRow[],
  runs: Runs,
): Promise<number[]> {
  if (deployment.deleting) {
    await Promise.all(rows.map((row) => removeInstance(context, row, runs.get(row.pod_name))))
    if (rows.length === 0) await deleteDeployment(context.db, deployment.name)
    // When the last instances were removed in this pass, the next one deletes the deployment.
    return [0].filter(() => rows.every(({ pod_name }) => hasExited(runs.get(pod_name))))
  }
  if (!deployment.enabled) {
    await Promise.all(rows.map((row) => stopDisabledInstance(context, row, runs.get(row.pod_name))))
    return []
  }
  const stored = tryParseDefinition(deployment.content)
  // Without a valid definition the instances stay as they are.
  if (!stored.definition) return []
  const { definition } = stored
  await forEachInstance(context, rows, async (row) => {
    if (row.wanted === 'gone') await removeInstance(context, row, runs.get(row.pod_name))
  })
  const lasting = rows.filter((row) => !isBeingRemoved(row))
  await advanceRestart(context, definition, lasting, runs).catch((error: unknown) => {
    context.log.error({ err: error, deployment: deployment.name }, 'failed to continue a restart; retrying')
  })
  const delays = await advanceDrains(context, definition, rows, runs)
  const kept = await adjustInstances(context, definition, rows, runs)
  await forEachInstance(context, kept, async (row) => {
    const run = runs.get(row.pod_name)
    if (!hasExited(run)) {
      if (row.wanted === 'stopped') await context.runtime.stop(row.pod_name)
      delays.push(...(await announceLateStart(context, definition, row, run)))
      return
    }
    const { isBlocked, startAfter } = await recordExit(context, definition, row, run)
    if (row.wanted === 'stopped') return
    if (isBlocked && !(await isMountedAgain(context, definition, row.blocked_reason))) return
    const delay = startAfter - context.now()
    // A longer wait means that the clock was set back: start at once.
    if (delay > 0 && delay <= MAX_RESTART_DELAY_MS) delays.push(delay)
    else delays.push(...(await startInstance(context, deployment, definition, row, runs)))
  })
  return delays
}

/** Writes once to the console that a run is not ready in time. @returns milliseconds until that is due */
async function announceLateStart(
  { db, runtime, now }: ReconcileContext,
  definition: Definition,
  row: InstanceRow,
  run: RuntimeInstance,
): Promise<number[]> {
  if (run.state !== 'STARTING' || row.late_run === run.runId) return []
  const late = lateStartOf(definition, run, now())
  if (!late) return [dueAt(definition, run) - now()]
  await runtime.note(
    row.pod_name,
    `[System] Not ready after ${late.afterSeconds} s: still waiting for ${late.waitingFor}.`,
  )
  await setLateRun(db, row.uid, run.runId)
  return []
}

async function removeInstance(
  { db, runtime, discovery }: ReconcileContext,
  row: InstanceRow,
  run: RuntimeInstance | undefined,
): Promise<void> {
  if (!hasExited(run)) return runtime.stop(row.pod_name)
  await runtime.remove(row.pod_name)
  await discovery.removePeersFile(row.pod_name)
  await deleteInstance(db, row.uid)
}

/**
 * Stops an instance of a disabled deployment, and clears its drain and restart (see `enableDeployment` for the rest).
 */
async function stopDisabledInstance(
  { db, runtime }: ReconcileContext,
  row: InstanceRow,
  run: RuntimeInstance | undefined,
): Promise<void> {
  if (row.restart_run !== null) await endRestartOf(db, row)
  if (row.drain_run !== null) await setDrain(db, row.uid, null)
  if (!hasExited(run)) return runtime.stop(row.pod_name)
  if (run?.exit && row.handled_run !== run.runId) {
    await setExit(db, row.uid, {
      runId: run.runId,
      crashes: [],
      startAfter: null,
      blockedReason: null,
      exit: lastExitOf(run.exit),
      capsule: undefined,
    })
  }
}

/**
 * Advances a rolling restart: stops one instance at a time, and waits until it runs again. An instance that does not
 * start (`blocked_reason`) ends the restart. Attempts to start stopped instances come first, for the same reason.
 */
async function advanceRestart(
  context: ReconcileContext,
  definition: Definition,
  rows: InstanceRow[],
  runs: Runs,
): Promise<void> {
  const { db, runtime, now } = context
  const isUp = (run: RuntimeInstance | undefined) =>
    run?.state === 'RUNNING' || (run?.state === 'STARTING' && hasTimedOut(run, 'ready', now()))
  /** Whether an instance is down, and is not one of those that have not been replaced yet. */
  const isAwaited = (row: InstanceRow) => {
    const run = runs.get(row.pod_name)
    if (row.wanted !== 'running' || row.blocked_reason !== null || isUp(run)) return false
    return run?.state !== 'STARTING' || run.runId !== row.restart_run
  }
  for (const row of rows) {
    if (row.restart_run === null) continue
    const run = runs.get(row.pod_name)
    if (run?.runId === row.restart_run && !hasExited(run)) {
      if (run.state === 'STOPPING') return
      if (rows.some(isAwaited)) return
      if (!definition.drain)
        return mustWaitForNewInstance(context, row, rows, runs) ? undefined : runtime.stop(row.pod_name)
      if (row.drain_run !== run.runId) await requestDrain(db, row, run, 'restart')
      return
    }
    if (!isUp(run) && row.blocked_reason === null && row.wanted === 'running') return
    await endRestartOf(db, row)
  }
}

/** Whether to wait for an instance that has just started to answer pings: until then players cannot move to it. */
function mustWaitForNewInstance(
  { players, now }: ReconcileContext,
  row: InstanceRow,
  rows: InstanceRow[],
  runs: Runs,
): boolean {
  const own = runs.get(row.pod_name)
  if (!own || !players.playersOf(own)?.count) return false
  return rows.some(({ pod_name }) => {
    const run = runs.get(pod_name)
    return (
      run?.state === 'RUNNING' &&
      run.port !== undefined &&
      !hasTimedOut(run, 'answer', now()) &&
      players.playersOf(run) === undefined
    )
  })
}
