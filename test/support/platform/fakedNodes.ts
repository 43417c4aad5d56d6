import type { TestCluster } from './cluster'

export interface FakedPod {
  metadata: { name: string; uid: string; deletionTimestamp?: string; finalizers?: string[] }
  spec: { nodeName?: string }
  status: { phase: string }
}

/** The Pods of a namespace. */
export async function podsOf({ kubectl }: TestCluster, namespace: string, ...options: string[]): Promise<FakedPod[]> {
  const list = await kubectl('get', 'pods', '-n', namespace, '-o', 'json', ...options)
  return (JSON.parse(list) as { items: FakedPod[] }).items
}

/**
 * Reports once what the kubelets of these nodes would: that the nodes are ready, and that their Pods run. KWOK looks
 * after all nodes or none: with it stopped, only nodes for which this is called every few seconds answer.
 */
export async function keepAlive(cluster: TestCluster, namespace: string, nodes: string[]): Promise<void> {
  const { kubectl } = cluster
  const now = new Date().toISOString()
  const patch = (kind: string, name: string, change: object, ...options: string[]) =>
    kubectl('patch', kind, name, '--type=strategic', '-p', JSON.stringify(change), ...options)
  for (const node of nodes) {
    const lease = { spec: { renewTime: now.replace('Z', '000Z') } }
    await kubectl('patch', 'lease', node, '-n', 'kube-node-lease', '--type=merge', '-p', JSON.stringify(lease))
    const conditions = [{ type: 'Ready', status: 'True', reason: 'KubeletReady', lastHeartbeatTime: now }]
    await patch('node', node, { status: { conditions } }, '--subresource=status')
    for (const { metadata } of await podsOf(
      cluster,
      namespace,
      `--field-selector=spec.nodeName=${node},status.phase=Pending`,
    )) {
      const state = { running: { startedAt: now } }
      const containerStatuses = [
        { name: 'instance', ready: true, started: true, restartCount: 0, image: 'any', imageID: '', state },
      ]
      const status = { phase: 'Running', podIP: '198.51.100.99', containerStatuses }
      await patch('pod', metadata.name, { status }, '-n', namespace, '--subresource=status')
    }
  }
}
