import type { Definition } from '../../../contract/deployment'
import { AppError } from '../../errors'
import type { DeploymentRow } from '../../state/deployments/deployments'
import { listInstances, setBlocked, setWaiting, type InstanceRow } from '../../state/deployments/instances'
import { remedyOf } from './recordExit'
import { requireDeploymentDirectory, requireKeptDirectories, requireMounts } from '../hostPaths'
import { JAR_NOT_FOUND, specOf } from '../instanceSpec'
import { checkPort, hideDeployments } from '../monitoring/portChecks'
import type { ReconcileContext, Runs } from './reconcileContext'

/** Delay before another check of a port that the instance's earlier run still holds. */
const PORT_CHECK_MS = 500
const UNTIL_ROOM = 'It starts when there is room again.'

/** Starts an instance, or writes to its console why not. @returns milliseconds until the next attempt, if it is soon */
export async function startInstance(
  context: ReconcileContext,
  deployment: DeploymentRow,
  definition: Definition,
  row: InstanceRow,
  runs: Runs,
): Promise<number[]> {
  const { db, runtime, listening, log, now } = context
  const spec = await findSpec(context, deployment, definition, row)
  if (spec instanceof AppError && spec.code === 'UNAVAILABLE') {
    await wait(context, row, spec.message, 'It starts by itself once this is resolved.', false)
    return []
  }
  if (spec instanceof AppError && spec.code === 'DISK_FULL') {
    await wait(context, row, spec.message, UNTIL_ROOM, false)
    return []
  }
  if (spec instanceof AppError) {
    await runtime.note(row.pod_name, `[System] Blocked: ${spec.message} ${remedyOf(definition)}`)
    await setBlocked(db, row.uid, spec.message)
    return []
  }
  if ('missingJar' in spec) {
    // Without the remedy: on this exact line the console closes (product §4).
    await runtime.note(row.pod_name, JAR_NOT_FOUND)
    await setBlocked(db, row.uid, `${JAR_NOT_FOUND} Expected path: ${spec.missingJar}`)
    return []
  }
  if (spec.port !== undefined && runtime.sharesPorts) {
    const portState = await checkPort(spec.port, row, await listInstances(db), runs.values(), await listening(), now())
    if (portState === 'beingReleased') return [PORT_CHECK_MS]
    if (portState !== 'free') {
      const reason = `Port ${spec.port} is taken by ${portState.takenBy}.`
      await wait(context, row, reason, 'It starts when the port is free.', true)
      return []
    }
  }
  if (!(await context.hasRoom(spec))) {
    const reason = `The disk of the data directory ${spec.copy ? 'has no room for copies of files' : 'is full'}.`
    await wait(context, row, reason, UNTIL_ROOM, false)
    return []
  }
  if (row.blocked_reason !== null) await setBlocked(db, row.uid, null)
  // Not awaited: copying a large directory must not hold up other instances. The run is listed as STARTING at once.
  runtime
    .ensure(spec)
    .catch((error: unknown) => log.error({ err: error, podName: row.pod_name }, 'failed to start an instance'))
  // Reserves the port for the rest of this pass.
  runs.set(row.pod_name, {
    podName: row.pod_name,
    runId: '',
    state: 'STARTING',
    ip: '',
    port: spec.port,
    startedAt: now(),
    exit: undefined,
  })
  return []
}

/**
 * Blocks an instance until the reason is gone.
 * @param isOwn whether the reason concerns this instance only: the others of its deployment still restart
 */
async function wait(
  { db, runtime }: ReconcileContext,
  row: InstanceRow,
  reason: string,
  until: string,
  isOwn: boolean,
): Promise<void> {
  if (row.blocked_reason === reason) return
  // Viewers of this console may not know of other deployments.
  const shown = hideDeployments(reason, (name) => name === row.deployment)
  await runtime.note(row.pod_name, `[System] Blocked: ${shown} ${until}`)
  await setWaiting(db, row.uid, reason, isOwn)
}

async function findSpec(
  context: ReconcileContext,
  deployment: DeploymentRow,
  definition: Definition,
  row: InstanceRow,
): Promise<Awaited<ReturnType<typeof specOf>> | AppError> {
  try {
    const directory = await requireDeploymentDirectory(context, deployment, definition.dataDirectory)
    await requireMounts(context, deployment, definition)
    await requireKeptDirectories(context, definition)
    if (definition.discover) await context.discovery.writePeersFile(row.pod_name, definition.discover)
    return await specOf(definition, row, directory, context.runtime)
  } catch (error) {
    if (error instanceof AppError) return error
    throw error
  }
}
