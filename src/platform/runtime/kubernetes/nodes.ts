import type { V1Node, V1Pod } from '@kubernetes/client-node'
import type { NodeDetails } from '../../../contract/network'
import type { ClusterClient } from './clusterClient'
import { hasEnded } from './podState'
import { parseQuantity } from './podUsage'

/**
 * Lists the nodes of a cluster, sorted by name, with the CPU and memory that our instances have not requested. Pods of
 * other namespaces do not count, because the platform may not list them.
 * @param pods the Pods of all instances
 * @throws as `ClusterClient.call`
 */
export async function listNodes(client: ClusterClient, pods: V1Pod[]): Promise<NodeDetails[]> {
  const { items } = await client.call((core) => core.listNode())
  const running = pods.filter((pod) => !hasEnded(pod))
  return items
    .map((node) => {
      const name = node.metadata?.name ?? ''
      const placed = running.filter(({ spec }) => spec?.nodeName === name)
      const capacityOf = (resource: 'cpu' | 'memory') => {
        const total = amountOf(node.status?.allocatable?.[resource])
        const requested = placed.reduce((sum, pod) => sum + requestOf(pod, resource), 0)
        return { free: Math.max(0, total - requested), total }
      }
      return {
        name,
        ready: isReady(node) && !node.spec?.unschedulable,
        cpu: capacityOf('cpu'),
        memory: capacityOf('memory'),
      }
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
}

function isReady({ status }: V1Node): boolean {
  return status?.conditions?.some((condition) => condition.type === 'Ready' && condition.status === 'True') ?? false
}

/** Sums up the requests of a Pod. If a container has only a limit, the API server has set its request to that limit. */
function requestOf(pod: V1Pod, resource: 'cpu' | 'memory'): number {
  const containers = pod.spec?.containers ?? []
  return containers.reduce((sum, { resources }) => sum + amountOf(resources?.requests?.[resource]), 0)
}

/** The amount of a resource. One that is missing, invalid or negative counts as 0. */
function amountOf(quantity: string | undefined): number {
  const amount = parseQuantity(quantity ?? '')
  return amount > 0 ? amount : 0
}
