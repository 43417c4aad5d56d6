import type { V1Service } from '@kubernetes/client-node'
import type { Logger } from 'pino'
import type { PublishedDeployment } from '../runtime'
import { ClusterRefusal, isTemporaryRefusal, type ClusterClient } from './clusterClient'
import { DEPLOYMENT_LABEL, isOfState, lostMarkOf, MANAGED_BY, ofState } from './podSpec'
import { FIELD_MANAGER } from './pods'

/** Services are also applied without a change, so that a deleted one is created again. */
const RESYNC_MS = 5 * 60_000
/** Delay before Services are applied again of which the cluster has refused one for a while. */
const RETRY_MS = 10_000

/** The name of the Service that exposes a deployment outside of the cluster, in addition to the headless one. */
const exposedName = (deployment: string) => `${deployment}-exposed`

/**
 * Creates a function that reconciles the cluster's Services with the given deployments: a headless one with the name of
 * the deployment, and one of type NodePort or LoadBalancer where it is exposed. Services of other deployments are
 * deleted.
 */
export function createServices(
  client: ClusterClient,
  stateId: string,
  log: Pick<Logger, 'error'>,
): (deployments: PublishedDeployment[]) => Promise<void> {
  const { namespace } = client
  let published: { text: string; until: number } | undefined
  /** The last refusal of each Service by its name, so that a retry is not logged again. */
  const refusals = new Map<string, string>()

  const isOwn = (service: V1Service) => isOurs(service) && isOfState(service, stateId)

  /**
   * @param exists whether it was there before
   * @returns whether it has to be tried again soon
   */
  async function apply(service: V1Service, exists: boolean): Promise<boolean> {
    const name = nameOf(service)
    try {
      const applied = await client.call((core, { setHeaderOptions, PatchStrategy }) =>
        core.patchNamespacedService(
          { name, namespace, body: service, fieldManager: FIELD_MANAGER, force: true },
          setHeaderOptions('Content-Type', PatchStrategy.ServerSideApply),
        ),
      )
      const lostMark = lostMarkOf(applied, stateId, 'Services')
      if (lostMark !== undefined) {
        // Nobody would delete it with its deployment. One that players use already keeps its address.
        if (!exists) await client.call((core) => core.deleteNamespacedService({ name, namespace }))
        throw new ClusterRefusal(422, lostMark)
      }
      refusals.delete(name)
      return false
    } catch (error) {
      if (!(error instanceof ClusterRefusal)) throw error
      // One refused Service, because of its name for example, must not prevent the others.
      if (refusals.get(name) !== error.message)
        log.error({ err: error, service: name }, 'the cluster refuses the Service of a deployment')
      refusals.set(name, error.message)
      return isTemporaryRefusal(error)
    }
  }

  return async (deployments) => {
    const text = JSON.stringify(deployments)
    if (published?.text === text && performance.now() < published.until) return
    const { items } = await client.call((core) => core.listNamespacedService({ namespace }))
    const own = items.filter(isOwn).map(nameOf)
    const taken = new Set(items.filter((service) => !isOwn(service)).map(nameOf))
    const wanted = uniqueByName(deployments.flatMap((deployment) => servicesOf(deployment, stateId)))
    for (const name of own)
      if (!wanted.has(name)) await client.call((core) => core.deleteNamespacedService({ name, namespace }))
    let isToRetry = false
    for (const [name, service] of wanted) {
      // A Service that was created elsewhere, such as the console's own, must not be changed.
      if (taken.has(name))
        log.error({ service: name }, 'failed to create the Service of a deployment: another Service has its name')
      else if (await apply(service, own.includes(name))) isToRetry = true
    }
    for (const name of refusals.keys()) if (!wanted.has(name)) refusals.delete(name)
    published = { text, until: performance.now() + (isToRetry ? RETRY_MS : RESYNC_MS) }
  }
}

const nameOf = ({ metadata }: V1Service) => metadata?.name ?? ''

const isOurs = ({ metadata }: V1Service) =>
  Object.entries(MANAGED_BY).every(([label, value]) => metadata?.labels?.[label] === value)

/**
 * Of two Services with the same name, keeps the headless one: the deployments "a" and "a-exposed" both want
 * "a-exposed".
 */
function uniqueByName(services: V1Service[]): Map<string, V1Service> {
  const headlessLast = [...services].sort((a, b) => rank(a) - rank(b))
  return new Map(headlessLast.map((service) => [nameOf(service), service]))
}

const rank = ({ spec }: V1Service) => (spec?.clusterIP === 'None' ? 1 : 0)

function servicesOf({ deployment, port, expose }: PublishedDeployment, stateId: string): V1Service[] {
  const selector = { ...MANAGED_BY, [DEPLOYMENT_LABEL]: deployment }
  const ports = [
    { name: 'tcp', port, targetPort: port, protocol: 'TCP' },
    { name: 'udp', port, targetPort: port, protocol: 'UDP' },
  ]
  const service = (name: string, spec: V1Service['spec']): V1Service => ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, labels: selector, annotations: ofState(stateId) },
    spec: { ...spec, selector },
  })
  const headless = service(deployment, { clusterIP: 'None', ports })
  if (expose === 'none') return [headless]
  const type = expose === 'nodePort' ? 'NodePort' : 'LoadBalancer'
  return [headless, service(exposedName(deployment), { type, ports })]
}
