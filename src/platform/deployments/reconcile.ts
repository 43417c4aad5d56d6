import { randomBytes, randomUUID } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Logger } from 'pino'
import type { Definition } from '../../contract/deployment'
import type { InstanceExit, InstanceSpec, Runtime, RuntimeInstance } from '../runtime/runtime'
import type { Db } from '../state/db'
import { listDeployments, type DeploymentRow } from '../state/deployments'
import { insertInstance, listInstances, noteEnd, type InstanceRow } from '../state/instances'
import { afterCrash } from './crashes'
import { parseDefinition } from './definitions'

export interface ReconcileParts {
  db: Db
  runtime: Runtime
  shareDir: string
  log: Logger
  now: () => number
}

/**
 * Compares what is wanted with what is, once, and begins what is missing. It may be cut off at any point and run again:
 * everything it decides on is in the state or the runtime, and asking for what is already so does nothing.
 * @returns milliseconds until something is due (a start after a crash), if anything is.
 */
export async function reconcile(parts: ReconcileParts): Promise<number | undefined> {
  const { db, runtime, log } = parts
  const [deployments, rows, actual] = await Promise.all([listDeployments(db), listInstances(db), runtime.list()])
  const runs = new Map(actual.map((run) => [run.podName, run]))
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
  for (const run of actual) {
    if (rows.some(({ pod_name }) => pod_name === run.podName)) continue
    if (run.state === 'EXITED') await runtime.remove(run.podName)
    else await runtime.stop(run.podName)
  }
  return waits.length > 0 ? Math.min(...waits) : undefined
}

async function reconcileDeployment(
  parts: ReconcileParts,
  deployment: DeploymentRow,
  rows: InstanceRow[],
  runs: Map<string, RuntimeInstance>,
): Promise<number[]> {
  const { db, runtime, now } = parts
  if (!deployment.enabled) {
    for (const row of rows) await standDown(parts, row, runs.get(row.pod_name))
    return []
  }
  const definition = parseDefinition(deployment.content)
  const wantedCount = definition.type === 'scalable' ? (definition.instances?.min ?? 1) : 1
  for (let count = rows.length; count < wantedCount; count++) await insertInstance(db, newInstance(deployment.name))

  const waits: number[] = []
  for (const row of rows.length < wantedCount ? await listInstances(db, deployment.name) : rows) {
    const run = runs.get(row.pod_name)
    if (row.wanted === 'stopped' || (run && run.state !== 'EXITED')) continue
    const { blocked, startAfter } = await dealWithEnd(parts, row, run)
    if (blocked) continue
    const wait = startAfter - now()
    if (wait > 0) waits.push(wait)
    else await runtime.ensure(await specOf(parts, definition, row))
  }
  return waits
}

/** Ends an instance of a disabled deployment, and lets bygones be bygones for when it is enabled again. */
async function standDown({ db, runtime }: ReconcileParts, row: InstanceRow, run: RuntimeInstance | undefined): Promise<void> {
  if (run && run.state !== 'EXITED') await runtime.stop(run.podName)
  else if (run && (row.handled_run !== run.runId || row.blocked_reason !== null || row.crashes.length > 0)) {
    await noteEnd(db, row.uid, { runId: run.runId, crashes: [], startAfter: null, blockedReason: null })
  }
}

/** Notes the end of a run once, and says what may happen next. */
async function dealWithEnd(
  { db, runtime, now }: ReconcileParts,
  row: InstanceRow,
  run: RuntimeInstance | undefined,
): Promise<{ blocked: boolean; startAfter: number }> {
  const { exit } = run ?? {}
  if (!run || !exit || row.handled_run === run.runId) return { blocked: row.blocked_reason !== null, startAfter: row.start_after?.getTime() ?? 0 }
  const next = exit.requested ? { crashes: row.crashes, startAfter: 0 } : afterCrash(row.crashes, exit.at)
  const blockedReason = next.startAfter === undefined ? `Ended ${next.crashes.length} times within 5 minutes, the last time ${describeEnd(exit)}` : null
  if (blockedReason !== null) await runtime.note(row.pod_name, `[System] Blocked: ${blockedReason}. Start it to try again.`)
  else if (!exit.requested) await runtime.note(row.pod_name, `[System] Starting again in ${Math.ceil(((next.startAfter ?? 0) - now()) / 1000)} s.`)
  await noteEnd(db, row.uid, {
    runId: run.runId,
    crashes: next.crashes,
    startAfter: next.startAfter ? new Date(next.startAfter) : null,
    blockedReason,
  })
  return { blocked: blockedReason !== null, startAfter: next.startAfter ?? 0 }
}

function describeEnd({ code, signal, failure }: InstanceExit): string {
  if (failure) return failure.charAt(0).toLowerCase() + failure.slice(1).replace(/\.$/, '')
  return signal ? `by signal ${signal}` : `with exit code ${code}`
}

function newInstance(deployment: string): Pick<InstanceRow, 'uid' | 'deployment' | 'name' | 'pod_name'> {
  const id = randomBytes(3).toString('hex')
  return { uid: randomUUID(), deployment, name: `${id}-${deployment}`, pod_name: `${deployment}-${id}` }
}

async function specOf({ shareDir }: ReconcileParts, definition: Definition, row: InstanceRow): Promise<InstanceSpec> {
  const { run, stop, ready, dataDirectory } = definition
  const directory = join(shareDir, dataDirectory)
  await mkdir(directory, { recursive: true })
  const [program = '', ...args] = run.command ?? ['java', ...(run.javaArgs ?? []), '-jar', run.jar ?? '', 'nogui']
  return {
    podName: row.pod_name,
    command: [program, ...args],
    directory,
    env: run.env ?? {},
    ready,
    stop: { command: stop.command, timeoutSeconds: stop.timeoutSeconds },
  }
}
