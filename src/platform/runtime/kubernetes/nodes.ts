import type { V1Node } from '@kubernetes/client-node'
import type { ClusterClient } from './clusterClient'

/** Names of the nodes that are ready and accept Pods, sorted. @throws as `ClusterClient.call` */
export async function listReadyNodes(client: ClusterClient): Promise<string[]> {
  const { items } = await client.call((core) => core.listNode())
  return items
    .filter((node) => isReady(node) && !node.spec?.unschedulable)
    .flatMap(({ metadata }) => metadata?.name ?? [])
    .sort()
}

function isReady({ status }: V1Node): boolean {
  return status?.conditions?.some((condition) => condition.type === 'Ready' && condition.status === 'True') ?? false
}
