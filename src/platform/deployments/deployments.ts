import { DEPLOYMENT_TYPES, type Definition, type Deployment } from '../../contract/deployment'
import type { Instance, InstanceState } from '../../contract/instance'
import { AppError } from '../errors'
import type { Runtime, RuntimeInstance } from '../runtime/runtime'
import type { Db } from '../state/db'
import { findDeployment, listDeployments, type DeploymentRow } from '../state/deployments'
import { listInstances, type InstanceRow } from '../state/instances'
import { parseDefinition } from './definitions'
import { uptimeText } from './quantities'
import type { UsageMeter } from './usageMeter'

/** How the wire writes the root of the shared area (decisions §3). */
const SHARED_ROOT = '/nfsshare'

export interface Deployments {
  list(): Promise<Deployment[]>
  /** @throws AppError NOT_FOUND */
  instances(name: string): Promise<Instance[]>
}

export function createDeployments(db: Db, runtime: Runtime, usage: UsageMeter, now: () => number): Deployments {
  return {
    async list() {
      return (await listDeployments(db)).map(describe)
    },

    async instances(name) {
      const deployment = await findDeployment(db, name)
      if (!deployment) throw new AppError('NOT_FOUND', `There is no deployment named "${name}".`)
      const definition = parseDefinition(deployment.content)
      const [rows, running, measure] = await Promise.all([listInstances(db, name), runtime.list(), usage.read()])
      return rows.flatMap((row) => {
        const run = running.find(({ podName }) => podName === row.pod_name)
        const isOver = !run || run.state === 'EXITED'
        // Of a disabled deployment only what is still ending is worth showing.
        if (isOver && !deployment.enabled) return []
        return [describeInstance(row, run, definition, isOver ? '0s' : uptimeText(now() - run.startedAt), measure)]
      })
    },
  }
}

function describe({ name, enabled, content }: DeploymentRow): Deployment {
  const { type, dataDirectory, description } = parseDefinition(content)
  return { name, typeIndex: DEPLOYMENT_TYPES.indexOf(type), enabled, path: SHARED_ROOT + dataDirectory, dataDirectory, description }
}

function describeInstance(
  row: InstanceRow,
  run: RuntimeInstance | undefined,
  { type, description, resources }: Definition,
  uptime: string,
  measure: Awaited<ReturnType<UsageMeter['read']>>,
): Instance {
  return {
    uid: row.uid,
    name: row.name,
    description,
    deployment: row.deployment,
    podName: row.pod_name,
    ip: run?.ip ?? '',
    state: stateOf(row, run),
    type: type === 'process' ? 'process' : 'minecraft',
    connections: 0,
    uptime,
    ...measure(row.pod_name, resources),
  }
}

function stateOf({ blocked_reason }: InstanceRow, run: RuntimeInstance | undefined): InstanceState {
  if (run && run.state !== 'EXITED') return run.state
  return blocked_reason === null ? 'STOPPED' : 'BLOCKED'
}
