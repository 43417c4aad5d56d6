import type { Definition } from '../../contract/deployment'
import { AppError } from '../errors'
import type { DeploymentRow } from '../state/deployments'
import { listInstances, setBlocked, type InstanceRow } from '../state/instances'
import { remedyOf } from './dealWithEnd'
import { directoryOf, mountsOf } from './directory'
import { JAR_NOT_FOUND, specOf } from './instanceSpec'
import { checkPort } from './portChecks'
import type { ReconcileParts, Runs } from './reconcileParts'

/** How soon it is looked again whether a port is free that the instance's own earlier run still holds. */
const PORT_CHECK_MS = 500

/** Starts an instance, or says why it cannot be started. @returns milliseconds until it is to be tried again, if it is to be soon. */
export async function startInstance(
  parts: ReconcileParts,
  deployment: DeploymentRow,
  definition: Definition,
  row: InstanceRow,
  runs: Runs,
): Promise<number[]> {
  const { db, runtime, listening, log, told, now } = parts
  const spec = await findSpec(parts, deployment, definition, row)
  if (spec instanceof AppError && spec.code === 'UNAVAILABLE') {
    if (told.get(row.pod_name) !== spec.message)
      await runtime.note(row.pod_name, `[System] Not started: ${spec.message}`)
    told.set(row.pod_name, spec.message)
    return []
  }
  told.delete(row.pod_name)
  if (spec instanceof AppError) {
    await runtime.note(row.pod_name, `[System] Blocked: ${spec.message} ${remedyOf(definition)}`)
    await setBlocked(db, row.uid, spec.message)
    return []
  }
  if ('missingJar' in spec) {
    // Alone: to a console it is the last word, after which it closes (product §4).
    await runtime.note(row.pod_name, JAR_NOT_FOUND)
    await setBlocked(db, row.uid, `${JAR_NOT_FOUND} It was looked for at ${spec.missingJar}.`)
    return []
  }
  if (spec.port !== undefined) {
    const answer = await checkPort(spec.port, row, await listInstances(db), runs.values(), await listening(), now())
    if (answer === 'soon') return [PORT_CHECK_MS]
    if (answer !== 'free') {
      const reason = `Port ${spec.port} is taken by ${answer.takenBy}.`
      if (row.blocked_reason === reason) return []
      await runtime.note(row.pod_name, `[System] Blocked: ${reason} It is started when the port is free.`)
      await setBlocked(db, row.uid, reason, true)
      return []
    }
  }
  if (row.blocked_reason !== null) await setBlocked(db, row.uid, null)
  // Not waited for: copying a large directory must not hold up the others. The runtime lists it as starting at once.
  runtime
    .ensure(spec)
    .catch((error: unknown) => log.error({ err: error, podName: row.pod_name }, 'an instance could not be started'))
  // So that the next one of this pass does not take its port.
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

async function findSpec(
  parts: ReconcileParts,
  deployment: DeploymentRow,
  definition: Definition,
  row: InstanceRow,
): Promise<Awaited<ReturnType<typeof specOf>> | AppError> {
  try {
    const peersDirectory = definition.discover && (await parts.discovery.prepare(row.pod_name, definition.discover))
    return await specOf(
      definition,
      row,
      await directoryOf(parts, deployment, definition.dataDirectory),
      await mountsOf(parts, definition),
      peersDirectory,
    )
  } catch (error) {
    if (error instanceof AppError) return error
    throw error
  }
}
