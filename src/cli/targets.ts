import { DeploymentsResponse } from '../contract/deployment'
import { InstancesResponse } from '../contract/instance'
import { dataOf, type Api, type Deployment, type Instance } from './api/client'
import { CliError, EXIT } from './failure'

/** An instance as it is named in the address of the console channel. */
export interface InstanceTarget {
  deployment: string
  podName: string
}

export type Target = { kind: 'deployment'; deployment: string } | ({ kind: 'instance' } & InstanceTarget)

export async function listDeployments(api: Api): Promise<(Deployment & { instances: Instance[] })[]> {
  const { deployments } = dataOf(
    await api.calls.GET('/api/deployments', { params: { query: { instances: 'true' } } }),
    DeploymentsResponse,
  )
  return deployments.map((deployment) => ({ ...deployment, instances: deployment.instances ?? [] }))
}

export async function listInstances(api: Api, deployment: string): Promise<Instance[]> {
  const params = { path: { name: deployment } }
  return dataOf(await api.calls.GET('/api/deployments/{name}/instances', { params }), InstancesResponse).instances
}

const isNamed = (instance: Instance, name: string) => [instance.podName, instance.name, instance.uid].includes(name)

/**
 * Finds what a name means: a deployment, or an instance by any of its names.
 * @throws CliError if it is neither or both
 */
export async function findTarget(api: Api, name: string): Promise<Target> {
  const deployments = await listDeployments(api).catch((error: unknown) => {
    const guessed = targetByForm(name)
    // A key without the scope `read` may still have scopes for actions on an instance.
    if (error instanceof CliError && error.exitCode === EXIT.notAllowed && guessed) return guessed
    throw error
  })
  if (!Array.isArray(deployments)) return { kind: 'instance', ...deployments }
  const instance = deployments.flatMap(({ instances }) => instances).find((candidate) => isNamed(candidate, name))
  const isDeployment = deployments.some((deployment) => deployment.name === name)
  if (instance && isDeployment)
    throw new CliError(
      EXIT.usage,
      `"${name}" is a deployment and an instance; the instance is also "${instance.name}".`,
    )
  if (isDeployment) return { kind: 'deployment', deployment: name }
  if (instance) return { kind: 'instance', deployment: instance.deployment, podName: instance.podName }
  throw new CliError(EXIT.notFound, `There is no instance or deployment "${name}". See: quarterdeck ps`)
}

/** As `findTarget`; a deployment means its only instance. */
export async function findInstance(api: Api, name: string): Promise<InstanceTarget> {
  const target = await findTarget(api, name)
  if (target.kind === 'instance') return target
  const [instance, second] = await listInstances(api, target.deployment)
  if (!instance) throw new CliError(EXIT.notFound, `"${name}" has no instance now. Start it: quarterdeck start ${name}`)
  if (second)
    throw new CliError(EXIT.usage, `"${name}" has several instances. Name one of them: quarterdeck ps ${name}`)
  return instance
}

/** Parses an instance's name: `lobby-1a2b3c` or `1a2b3c-lobby`. */
function targetByForm(name: string): InstanceTarget | undefined {
  const [, front, id = '', back] = /^(?:([a-z0-9-]{1,40})-)?([0-9a-f]{6})(?:-([a-z0-9-]{1,40}))?$/.exec(name) ?? []
  if (front !== undefined && back === undefined) return { deployment: front, podName: name }
  if (back !== undefined && front === undefined) return { deployment: back, podName: `${back}-${id}` }
  return undefined
}
