import type { V1Node, V1Pod } from '@kubernetes/client-node'
import type { NodeDetails } from '../../../contract/network'
import type { ClusterClient } from './clusterClient'
import { hasEnded } from './podState'
import { quantity } from './podUsage'

/**
 * The nodes of a cluster, sorted by name, with the room that is left beside our instances. The platform may not see the Pods
 * of other namespaces.
 * @param pods of all instances
 * @throws as `ClusterClient.call`
 */
export async function listNodes(client: ClusterClient, pods: V1Pod[]): Promise<NodeDetails[]> {
  const { items } = await client.call((core) => core.listNode())
  const running = pods.filter((pod) => !hasEnded(pod))
  return items
    .map((node) => {
      const name = node.metadata?.name ?? ''
      const placed = running.filter(({ spec }) => spec?.nodeName === name)
      const roomOf = (resource: 'cpu' | 'memory') => {
        const total = quantity(node.status?.allocatable?.[resource] ?? '')
        const requested = placed.reduce((sum, pod) => sum + requestOf(pod, resource), 0)
        return { free: Math.max(0, total - requested), total }
      }
      return { name, ready: isReady(node) && !node.spec?.unschedulable, cpu: roomOf('cpu'), memory: roomOf('memory') }
    })
    .sort((one, other) => (one.name < other.name ? -1 : 1))
}

function isReady({ status }: V1Node): boolean {
  return status?.conditions?.some((condition) => condition.type === 'Ready' && condition.status === 'True') ?? false
}

/** A limit counts as request where there is none; the API server fills it in. */
function requestOf(pod: V1Pod, resource: 'cpu' | 'memory'): number {
  const containers = pod.spec?.containers ?? []
  return containers.reduce((sum, { resources }) => sum + quantity(resources?.requests?.[resource] ?? ''), 0)
}
