import { AppError } from '../errors'
import { findDeployment } from '../state/deployments/deployments'
import {
  listInstances,
  setBlocked,
  setDesiredState,
  setDrain,
  setRestartRun,
  type InstanceRow,
} from '../state/deployments/instances'
import { listInContact } from '../runtime/contact'
import { parseDefinition } from './definitions'
import { requireDeploymentDirectory, requireKeptDirectories, requireMounts } from './hostPaths'
import { hideDeployments } from './monitoring/portChecks'
import { createSharedPoll } from './reconcile/sharedPoll'
import { requireEnds } from './requireEnds'
import { findStored, type StoredDeploymentParts } from './storedDeployments'

/** Creates a function that restarts deployments, see `Deployments.restart`. */
export function createRestarter(
  parts: StoredDeploymentParts,
): (name: string, signal?: AbortSignal, isNamed?: (deployment: string) => boolean) => Promise<void> {
  const { db, runtime, wake } = parts

  const waitUntilRestarted = createSharedPoll(async (name) => {
    const [all, runs] = await Promise.all([listInstances(db, [name]), listInContact(runtime)])
    // One that is removed meanwhile, for example by scaling, does not start again.
    const rows = all.filter(({ wanted }) => wanted !== 'gone')
    if (!(await findDeployment(db, name))?.enabled)
      throw new AppError('CONFLICT', `The deployment "${name}" was disabled or deleted before it had restarted.`)
    const hasStarted = ({ pod_name, blocked_reason, start_after }: InstanceRow) =>
      blocked_reason !== null ||
      start_after !== null ||
      runs.some(({ podName, state }) => podName === pod_name && state !== 'EXITED')
    if (rows.every((row) => row.restart_run === null && (row.wanted !== 'running' || hasStarted(row)))) return rows
    await requireEnds(
      rows.filter(({ restart_run }) => restart_run !== null),
      runs,
      parts.marker,
      'The restart continues afterwards.',
    )
    return undefined
  })

  /**
   * Requests a restart of each instance. The manager does them one after another.
   * @returns the runs that are to end
   */
  async function requestRestarts(name: string): Promise<Set<string>> {
    const runs = await listInContact(runtime)
    // A pass of the manager in between would stop an instance before it knows of the stopped ones, which come first.
    return db.transaction().execute(async (transaction) => {
      const toEnd = new Set<string>()
      // A restart also starts stopped instances: a process cannot be started on its own.
      const toRestart = (await listInstances(transaction, [name])).filter(
        ({ wanted, drain_then }) => wanted !== 'gone' && drain_then !== 'gone',
      )
      for (const row of toRestart) {
        if (row.wanted === 'stopped') await setDesiredState(transaction, row.uid, 'running')
        const run = runs.find(({ podName, state }) => podName === row.pod_name && state !== 'EXITED')
        // A drain that is left would stop the instance, also if its run has ended by itself.
        if (row.drain_then === 'stop')
          await setDrain(transaction, row.uid, run ? { run: run.runId, then: 'restart' } : null)
        if (run) {
          toEnd.add(run.runId)
          await setRestartRun(transaction, row.uid, run.runId)
        }
        // A blocked instance, or one that waits after a crash, gets a new attempt.
        else await setBlocked(transaction, row.uid, null)
      }
      return toEnd
    })
  }

  return async (name, signal, isNamed = () => true) => {
    const deployment = await findStored(db, name)
    if (!deployment.enabled)
      throw new AppError('CONFLICT', `The deployment "${name}" is disabled. Enable it to start it.`)
    // Checked before anything stops, because an instance without its directory could not start again.
    const definition = parseDefinition(deployment.content)
    await requireDeploymentDirectory(parts, deployment, definition.dataDirectory)
    await requireMounts(parts, deployment, definition)
    await requireKeptDirectories(parts, definition)
    const toEnd = await requestRestarts(name)
    wake()
    const rows = await waitUntilRestarted(name, signal)
    const blocked = rows.find(({ blocked_reason }) => blocked_reason !== null)
    if (blocked?.blocked_reason == null) return
    const kept = (await listInContact(runtime)).filter(({ runId, state }) => toEnd.has(runId) && state === 'RUNNING')
    const reason = hideDeployments(blocked.blocked_reason, isNamed)
    const rest =
      kept.length > 0 ? `${reason.endsWith('.') ? '' : '.'} Still running and not restarted: ${kept.length}.` : ''
    throw new AppError('CONFLICT', `${blocked.name} did not start again: ${reason}${rest}`)
  }
}
