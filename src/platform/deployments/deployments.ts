import { DEPLOYMENT_TYPES, type CreateDeployment, type Deployment } from '../../contract/deployment'
import type { CrashCapsule, Instance } from '../../contract/instance'
import { AppError } from '../errors'
import { deploymentDirectory, SHARED_ROOT } from '../share/paths'
import { isDuplicate } from '../state/db'
import { findDeployment, insertDeployment, listDeployments, updateDeployment, type DeploymentRow } from '../state/deployments'
import { listInstances, setRestartRun } from '../state/instances'
import { parseDefinition } from './definitions'
import { describeInstances, type InstanceParts } from './instances'
import { newDefinition } from './templates'
import { waitFor } from './waits'

export interface DeploymentParts extends InstanceParts {
  shareDir: string
  nodes: () => Promise<string[]>
  /** Has the manager look at once. */
  wake: () => void
}

/** Every call but `list` throws AppError NOT_FOUND for a name that is not there. */
export interface Deployments {
  list(): Promise<Deployment[]>
  instances(name: string): Promise<Instance[]>
  /** What was kept of an instance's last end by itself. @throws AppError NOT_FOUND also where there was none */
  crash(name: string, uid: string): Promise<CrashCapsule>
  /** Disabled, with its directory and a commented YAML. @throws AppError NAME_TAKEN, CONFLICT (a second proxy), INVALID_INPUT (node) */
  create(request: CreateDeployment): Promise<void>
  /** Resolves when its instances have ended and it is gone; its files stay. */
  remove(name: string): Promise<void>
  setEnabled(name: string, enabled: boolean): Promise<void>
  /** One instance after another; resolves when all are up again. @throws AppError CONFLICT when it is disabled, or one does not come up */
  restart(name: string): Promise<void>
  /** The YAML as its author wrote it. */
  configuration(name: string): Promise<string>
  /** Counts from the next start of each instance on. @throws AppError INVALID_DEFINITION; then the stored text stays */
  configure(name: string, content: string): Promise<void>
}

export function createDeployments(parts: DeploymentParts): Deployments {
  const { db, runtime, shareDir, wake } = parts

  async function find(name: string): Promise<DeploymentRow> {
    const deployment = await findDeployment(db, name)
    if (!deployment) throw new AppError('NOT_FOUND', `There is no deployment named "${name}".`)
    return deployment
  }

  async function change(name: string, columns: Parameters<typeof updateDeployment>[2]): Promise<void> {
    if (!(await updateDeployment(db, name, columns))) throw new AppError('CONFLICT', `The deployment "${name}" is being deleted.`)
    wake()
  }

  return {
    async list() {
      return (await listDeployments(db)).map(describe)
    },

    async instances(name) {
      return describeInstances(parts, await find(name))
    },

    async crash(name, uid) {
      await find(name)
      const row = (await listInstances(db, name)).find((candidate) => candidate.uid === uid)
      if (!row?.crash) throw new AppError('NOT_FOUND', 'There is no such instance, or it never ended by itself.')
      return row.crash
    },

    async create(request) {
      const { name, type, node } = request
      if (type === 'persistent') await checkNode(node, parts.nodes)
      else if (node !== undefined) throw new AppError('INVALID_INPUT', 'node: is for a persistent deployment only', { field: 'node' })
      const content = newDefinition(request)
      parseDefinition(content)
      // First, because a row without its directory could never run. A directory that nobody uses does no harm.
      await deploymentDirectory(shareDir, `/${name}`)
      await insertDeployment(db, { name, type, content, enabled: false }).catch(async (error: unknown) => {
        if (!isDuplicate(error)) throw error
        if (await findDeployment(db, name)) throw new AppError('NAME_TAKEN', `A deployment named "${name}" already exists.`)
        throw new AppError('CONFLICT', 'There is a proxy already, and a network has one.')
      })
    },

    async remove(name) {
      await find(name)
      await updateDeployment(db, name, { deleting: true, enabled: false })
      wake()
      await waitFor(async () => ((await findDeployment(db, name))?.deleting ? undefined : true))
    },

    async setEnabled(name, enabled) {
      await find(name)
      await change(name, { enabled })
    },

    async restart(name) {
      const deployment = await find(name)
      if (!deployment.enabled) throw new AppError('CONFLICT', `The deployment "${name}" is disabled. Enable it to start it.`)
      const runs = await runtime.list()
      const asked = (await listInstances(db, name)).filter(({ wanted }) => wanted === 'running')
      for (const row of asked) {
        const run = runs.find(({ podName, state }) => podName === row.pod_name && state !== 'EXITED')
        if (run) await setRestartRun(db, row.uid, run.runId)
      }
      wake()
      const rows = await waitFor(async () => {
        const current = await listInstances(db, name)
        return current.some(({ restart_run }) => restart_run !== null) ? undefined : current
      })
      const failed = rows.find(({ blocked_reason }) => blocked_reason !== null)
      if (failed) throw new AppError('CONFLICT', `${failed.name} did not come up again: ${failed.blocked_reason}`)
    },

    async configuration(name) {
      return (await find(name)).content
    },

    async configure(name, content) {
      const { type } = await find(name)
      const definition = parseDefinition(content)
      for (const [field, value, fixed] of [['name', definition.name, name], ['type', definition.type, type]] as const) {
        if (value !== fixed) throw new AppError('INVALID_DEFINITION', `${field}: is fixed after creation and must stay "${fixed}"`, { field, line: lineOfKey(content, field) })
      }
      await deploymentDirectory(shareDir, definition.dataDirectory)
      await change(name, { content })
    },
  }
}

function describe({ name, enabled, deleting, content }: DeploymentRow): Deployment {
  const { type, dataDirectory, description } = parseDefinition(content)
  return { name, typeIndex: DEPLOYMENT_TYPES.indexOf(type), enabled: enabled && !deleting, path: SHARED_ROOT + dataDirectory, dataDirectory, description }
}

async function checkNode(node: string | undefined, nodes: () => Promise<string[]>): Promise<void> {
  if (node === undefined) throw new AppError('INVALID_INPUT', 'Please select a node for the persistent deployment', { field: 'node' })
  if (!(await nodes()).includes(node)) throw new AppError('INVALID_INPUT', `node: there is no node named "${node}"`, { field: 'node' })
}

/** Of a top-level key of a valid text. */
function lineOfKey(content: string, key: string): number {
  return content.split('\n').findIndex((line) => line.startsWith(`${key}:`)) + 1 || 1
}
