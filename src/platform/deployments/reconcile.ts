import { dataOf, type Definition } from '../../contract/deployment'
import type { RuntimeInstance } from '../runtime/runtime'
import { createJail } from '../share/jail'
import { deleteDeployment, listDeployments, type DeploymentRow } from '../state/deployments'
import {
  deleteInstance,
  insertInstance,
  listInstances,
  noteEnd,
  setBlocked,
  setDrain,
  setLateRun,
  setRestartRun,
  setWanted,
  type InstanceRow,
} from '../state/instances'
import { lastExitOf } from './crashCapsule'
import { LONGEST_WAIT_MS } from './crashes'
import { dealWithEnd } from './dealWithEnd'
import { storedDefinition } from './definitions'
import { directoryOf } from './directory'
import { dueAt, lateStartOf } from './lateStart'
import { newInstance } from './newInstance'
import { isPastPatience } from './patience'
import { drain, isLeaving, progressDrains } from './progressDrains'
import { isOver, type ReconcileParts, type Runs } from './reconcileParts'
import { excess, EXCESS_MS, scalingBounds } from './scaling'
import { startInstance } from './startInstance'

/**
 * Compares what is wanted with what is, once, and begins what is missing. It may be cut off at any point and run again:
 * everything it decides on is in the state or the runtime, and asking for what is already so does nothing.
 * @returns milliseconds until something is due (a start after a crash), if anything is.
 */
export async function reconcile(parts: ReconcileParts): Promise<number | undefined> {
  const { db, runtime, log } = parts
  // Runs first: an instance that is added meanwhile then has a row, and is not taken for a stray.
  const actual = await runtime.list()
  const [deployments, rows] = await Promise.all([listDeployments(db), listInstances(db)])
  const runs: Runs = new Map(actual.map((run) => [run.podName, run]))
  const waits: number[] = []
  for (const deployment of deployments) {
    const own = rows.filter((row) => row.deployment === deployment.name)
    try {
      waits.push(...(await reconcileDeployment(parts, deployment, own, runs)))
    } catch (error) {
      // One deployment that cannot be dealt with must not hold up the others.
      log.error({ err: error, deployment: deployment.name }, 'a deployment could not be reconciled')
    }
  }
  await followDirectories(parts, deployments)
  for (const run of actual) {
    if (rows.some(({ pod_name }) => pod_name === run.podName)) continue
    if (run.state === 'EXITED') await runtime.remove(run.podName)
    else await runtime.stop(run.podName)
  }
  return waits.length > 0 ? Math.min(...waits) : undefined
}

/** Logs what keeps a deployment from being looked after, once for as long as it is the same; undefined: nothing does. */
function tell({ log, told }: ReconcileParts, deployment: string, problem: string | undefined): void {
  if (problem === undefined) told.delete(deployment)
  else if (told.get(deployment) !== problem) {
    told.set(deployment, problem)
    log.error({ deployment, problem }, 'a deployment cannot be looked after')
  }
}

/**
 * Follows the directories whose instances run in copies: see `dataOf`. A directory that cannot
 * be told just now may be one that is needed: then nothing is thrown away. While the shared area is not mounted none is followed.
 */
async function followDirectories(parts: ReconcileParts, deployments: DeploymentRow[]): Promise<void> {
  const { shareDir, marker, replicas } = parts
  const isMounted = await createJail(shareDir, marker)
    .root()
    .then(
      () => true,
      () => false,
    )
  if (!isMounted) return replicas.follow([])
  const directories = new Set<string>()
  let isComplete = true
  for (const deployment of deployments) {
    const { name, content, deleting } = deployment
    if (deleting) continue
    const stored = storedDefinition(content)
    let problem = stored.definition ? undefined : stored.problem
    const { definition } = stored
    if (definition) {
      await directoryOf(parts, deployment, definition.dataDirectory).then(
        (directory) => dataOf(definition) === 'copy' && directories.add(directory),
        (error: unknown) => (problem = error instanceof Error ? error.message : String(error)),
      )
    }
    tell(parts, name, problem)
    isComplete &&= problem === undefined
  }
  replicas.follow([...directories])
  if (isComplete) replicas.prune()
}

async function reconcileDeployment(
  parts: ReconcileParts,
  deployment: DeploymentRow,
  rows: InstanceRow[],
  runs: Runs,
): Promise<number[]> {
  if (deployment.deleting) {
    for (const row of rows) await endAndForget(parts, row, runs.get(row.pod_name))
    if (rows.length === 0) await deleteDeployment(parts.db, deployment.name)
    // Once more, to see that all are gone.
    return [0].filter(() => rows.every(({ pod_name }) => isOver(runs.get(pod_name))))
  }
  if (!deployment.enabled) {
    for (const row of rows) await standDown(parts, row, runs.get(row.pod_name))
    return []
  }
  const stored = storedDefinition(deployment.content)
  // Its instances are left as they are: what they should be nobody can tell.
  if (!stored.definition) return []
  const { definition } = stored
  for (const row of rows) if (row.wanted === 'gone') await endAndForget(parts, row, runs.get(row.pod_name))
  await progressRestart(
    parts,
    definition,
    rows.filter((row) => !isLeaving(row)),
    runs,
  )
  const waits = await progressDrains(parts, definition, rows, runs)
  const wanted = await scale(parts, definition, rows, runs)
  for (const row of wanted) {
    const run = runs.get(row.pod_name)
    if (!isOver(run)) {
      if (row.wanted === 'stopped') await parts.runtime.stop(row.pod_name)
      waits.push(...(await tellLateStart(parts, definition, row, run)))
      continue
    }
    const { blocked, startAfter } = await dealWithEnd(parts, definition, row, run)
    if ((blocked && !row.block_lifts) || row.wanted === 'stopped') continue
    const wait = startAfter - parts.now()
    // A longer one was begun before the clock was set back.
    if (wait > 0 && wait <= LONGEST_WAIT_MS) waits.push(wait)
    else waits.push(...(await startInstance(parts, deployment, definition, row, runs)))
  }
  return waits
}

/** Tells, once, of a run that is not ready in time. @returns milliseconds until that may be due. */
async function tellLateStart(
  { db, runtime, now }: ReconcileParts,
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

/** Brings the number of instances to what is wanted. @returns the ones that are to be. */
async function scale(
  { db, players, now, excessSince }: ReconcileParts,
  definition: Definition,
  rows: InstanceRow[],
  runs: Runs,
): Promise<InstanceRow[]> {
  const countOf = (podName: string) => (isOver(runs.get(podName)) ? 0 : players.of(podName)?.count)
  const all = rows.filter((row) => !isLeaving(row))
  // Those that are drained to go still hold players, who may come back to the others, and a place.
  const draining = rows.filter((row) => isLeaving(row) && row.wanted !== 'gone')
  const { atLeast, atMost } = scalingBounds(
    definition,
    [...all, ...draining].map(({ pod_name }) => countOf(pod_name)),
  )
  const slots = new Set(rows.map(({ slot }) => slot))
  const most = Math.max(1, definition.instances?.max ?? 1)
  for (let slot = 0; all.length < atLeast && all.length + draining.length < most; slot++) {
    if (!slots.has(slot)) all.push(await insertInstance(db, newInstance(definition.name, slot)))
  }
  if (all.length <= atMost) {
    excessSince.delete(definition.name)
    return all
  }
  // Not later than now: the clock may have been set back.
  const since = Math.min(excessSince.get(definition.name) ?? now(), now())
  excessSince.set(definition.name, since)
  if (now() - since < EXCESS_MS) return all
  const ending = excess(all, atMost, countOf, definition.drain !== undefined)
  for (const row of ending) {
    const run = runs.get(row.pod_name)
    if (definition.drain && !isOver(run)) await drain(db, row, run, 'gone')
    else await setWanted(db, row.uid, 'gone')
  }
  return all.filter((row) => !ending.includes(row))
}

async function endAndForget(
  { db, runtime, discovery }: ReconcileParts,
  row: InstanceRow,
  run: RuntimeInstance | undefined,
): Promise<void> {
  if (!isOver(run)) return runtime.stop(row.pod_name)
  await runtime.remove(row.pod_name)
  await discovery.forget(row.pod_name)
  await deleteInstance(db, row.uid)
}

/** Ends an instance of a disabled deployment, and lets bygones be bygones for when it is enabled again. */
async function standDown(
  { db, runtime }: ReconcileParts,
  row: InstanceRow,
  run: RuntimeInstance | undefined,
): Promise<void> {
  if (row.restart_run !== null) await setRestartRun(db, row.uid, null)
  if (row.drain_run !== null) await setDrain(db, row.uid, null)
  if (!isOver(run)) return runtime.stop(row.pod_name)
  if (row.blocked_reason !== null || row.crashes.length > 0) await setBlocked(db, row.uid, null)
  if (row.wanted === 'stopped') await setWanted(db, row.uid, 'running')
  if (run?.exit && row.handled_run !== run.runId) {
    await noteEnd(db, row.uid, {
      runId: run.runId,
      crashes: [],
      startAfter: null,
      blockedReason: null,
      exit: lastExitOf(run.exit),
      capsule: undefined,
    })
  }
}

/** Takes a restart one step further: one instance at a time is ended, started by the ordinary course, and waited for. */
async function progressRestart(
  parts: ReconcileParts,
  definition: Definition,
  rows: InstanceRow[],
  runs: Runs,
): Promise<void> {
  const { db, runtime, now } = parts
  for (const row of rows) {
    if (row.restart_run === null) continue
    const run = runs.get(row.pod_name)
    if (run?.runId === row.restart_run && !isOver(run)) {
      if (run.state === 'STOPPING') return
      if (!definition.drain) return isWaitedFor(parts, row, rows, runs) ? undefined : runtime.stop(row.pod_name)
      if (row.drain_run !== run.runId) await drain(db, row, run, 'restart')
      return
    }
    const isUp = run?.state === 'RUNNING' || (run?.state === 'STARTING' && isPastPatience(run, 'ready', now()))
    if (!isUp && row.blocked_reason === null && row.wanted === 'running') return
    await setRestartRun(db, row.uid, null)
  }
}

/** Whether the players of an instance that is to be restarted have to wait for another one, just started, to have somewhere to go. */
function isWaitedFor({ players, now }: ReconcileParts, row: InstanceRow, rows: InstanceRow[], runs: Runs): boolean {
  if (!players.of(row.pod_name)?.count) return false
  return rows.some(({ pod_name }) => {
    const run = runs.get(pod_name)
    return (
      run?.state === 'RUNNING' &&
      run.port !== undefined &&
      !isPastPatience(run, 'answer', now()) &&
      players.of(pod_name) === undefined
    )
  })
}
