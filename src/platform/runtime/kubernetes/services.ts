import type { V1Service } from '@kubernetes/client-node'
import type { Logger } from 'pino'
import type { PublishedDeployment } from '../runtime'
import { ClusterRefusal, type ClusterClient } from './clusterClient'
import { DEPLOYMENT_LABEL, MANAGED_BY, MANAGED_BY_SELECTOR } from './podSpec'
import { FIELD_MANAGER } from './pods'

/** Also without a change, so that a Service that somebody has deleted comes back. */
const RESYNC_MS = 5 * 60_000

/** The Service that opens a deployment to the outside, beside the headless one. */
const exposedName = (deployment: string) => `${deployment}-exposed`

/**
 * Creates a function that makes the cluster's Services those of the given deployments: a headless one with the name of the
 * deployment, and one of type NodePort or LoadBalancer where it is exposed. Services of other deployments are deleted.
 */
export function createServices(
  client: ClusterClient,
  log: Pick<Logger, 'error'>,
): (deployments: PublishedDeployment[]) => Promise<void> {
  const { namespace } = client
  let published: { text: string; at: number } | undefined

  async function apply(service: V1Service): Promise<void> {
    const name = service.metadata?.name ?? ''
    try {
      await client.call((core, { setHeaderOptions, PatchStrategy }) =>
        core.patchNamespacedService(
          { name, namespace, body: service, fieldManager: FIELD_MANAGER, force: true },
          setHeaderOptions('Content-Type', PatchStrategy.ServerSideApply),
        ),
      )
    } catch (error) {
      if (!(error instanceof ClusterRefusal)) throw error
      // One refused Service, because of its name for example, must not keep the others from being created.
      log.error({ err: error, service: name }, 'the cluster refuses the Service of a deployment')
    }
  }

  return async (deployments) => {
    const text = JSON.stringify(deployments)
    if (published?.text === text && performance.now() - published.at < RESYNC_MS) return
    const wanted = deployments.flatMap(servicesOf)
    const names = new Set(wanted.map(({ metadata }) => metadata?.name))
    const { items } = await client.call((core) =>
      core.listNamespacedService({ namespace, labelSelector: MANAGED_BY_SELECTOR }),
    )
    for (const { metadata } of items) {
      const name = metadata?.name ?? ''
      if (!names.has(name)) await client.call((core) => core.deleteNamespacedService({ name, namespace }))
    }
    for (const service of wanted) await apply(service)
    published = { text, at: performance.now() }
  }
}

function servicesOf({ deployment, port, expose }: PublishedDeployment): V1Service[] {
  const selector = { ...MANAGED_BY, [DEPLOYMENT_LABEL]: deployment }
  const ports = [
    { name: 'tcp', port, targetPort: port, protocol: 'TCP' },
    { name: 'udp', port, targetPort: port, protocol: 'UDP' },
  ]
  const service = (name: string, spec: V1Service['spec']): V1Service => ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, labels: selector },
    spec: { ...spec, selector },
  })
  const headless = service(deployment, { clusterIP: 'None', ports })
  if (expose === 'none') return [headless]
  const type = expose === 'nodePort' ? 'NodePort' : 'LoadBalancer'
  return [headless, service(exposedName(deployment), { type, ports })]
}
