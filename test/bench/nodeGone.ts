import { setTimeout as delay } from 'node:timers/promises'
import type { TestCluster } from '../support/platform/cluster'
import { createEnabled, overviewOf, signUpByCalls } from '../support/browser/productCalls'
import { NAMESPACE, podsOf, runOnKwok, type ProductOnKwok } from '../support/browser/productOnKwok'

/**
 * A faked node (KWOK) stops answering while a persistent and four scalable instances run, and comes back. Scalable
 * instances must be replaced on other nodes; the persistent one must wait, because the node may still run it.
 */
const LIMIT_MS = 240_000
const GONE_SECONDS = 180

/** Reports what the kubelets of these nodes would: that the nodes are ready, and that their Pods run. */
async function keepAlive({ kubectl }: TestCluster, nodes: string[]): Promise<void> {
  const now = new Date().toISOString()
  const patch = (kind: string, name: string, change: object, ...options: string[]) =>
    kubectl('patch', kind, name, '--type=strategic', '-p', JSON.stringify(change), ...options)
  for (const node of nodes) {
    const lease = { spec: { renewTime: now.replace('Z', '000Z') } }
    await kubectl('patch', 'lease', node, '-n', 'kube-node-lease', '--type=merge', '-p', JSON.stringify(lease))
    const conditions = [{ type: 'Ready', status: 'True', reason: 'KubeletReady', lastHeartbeatTime: now }]
    await patch('node', node, { status: { conditions } }, '--subresource=status')
    const pods = await kubectl(
      ...['get', 'pods', '-n', NAMESPACE, '-o', 'json', `--field-selector=spec.nodeName=${node},status.phase=Pending`],
    )
    for (const { metadata } of (JSON.parse(pods) as { items: { metadata: { name: string } }[] }).items) {
      const state = { running: { startedAt: now } }
      const containerStatuses = [
        { name: 'instance', ready: true, started: true, restartCount: 0, image: 'any', imageID: '', state },
      ]
      const status = { phase: 'Running', podIP: '198.51.100.99', containerStatuses }
      await patch('pod', metadata.name, { status }, '-n', NAMESPACE, '--subresource=status')
    }
  }
}

async function measure(kwok: ProductOnKwok): Promise<void> {
  const { call } = await signUpByCalls(await kwok.start())
  const { nodes } = await call<{ nodes: string[] }>('GET', 'network/nodes')
  const [node = ''] = nodes
  console.log(`nodes: ${nodes.join(', ')}; ${node} will stop answering`)
  await createEnabled(call, 'world', 'persistent', '', node)
  await createEnabled(call, 'lobby', 'scalable', 'instances: { min: 4, max: 4 }\n')
  const stateOf = async () =>
    Object.fromEntries((await overviewOf(call)).map(({ name, instances }) => [name, instances]))
  let latest = ''
  const begunAt = performance.now()
  const print = async () => {
    const pods = (await podsOf(kwok)).map(
      ({ metadata, spec, status }) =>
        `${metadata.name} ${metadata.uid.slice(0, 4)} on ${spec.nodeName ?? 'no node'} ${status.phase}${metadata.deletionTimestamp ? ' (being deleted)' : ''}`,
    )
    const text = [
      ...Object.entries(await stateOf()).map(([name, list]) => `${name}: ${list.map(({ state }) => state).join(' ')}`),
      ...pods,
    ].join('\n  ')
    if (text !== latest) console.log(`${((performance.now() - begunAt) / 1000).toFixed(0)} s\n  ${text}`)
    latest = text
  }
  const waitFor = async (what: string, isTrue: () => Promise<boolean>) => {
    for (const end = performance.now() + LIMIT_MS; !(await isTrue()); await delay(1000)) {
      await print()
      if (performance.now() > end) throw new Error(`not seen: ${what}`)
    }
    await print()
    console.log(`${((performance.now() - begunAt) / 1000).toFixed(0)} s: ${what}`)
  }
  const allRun = async () =>
    Object.values(await stateOf())
      .flat()
      .filter(({ state }) => state === 'RUNNING').length === 5
  await waitFor('all five instances run', allRun)

  // KWOK looks after all nodes or none: the other nodes are kept alive from here.
  const isBack = kwok.cluster.script('restart.sh', 'kwok', String(GONE_SECONDS))
  const others = nodes.filter((name) => name !== node)
  const keeper = setInterval(() => void keepAlive(kwok.cluster, others), 3000)
  await waitFor(
    'the node is not ready',
    async () => !(await call<{ nodes: string[] }>('GET', 'network/nodes')).nodes.includes(node),
  )
  await waitFor('four scalable instances run on other nodes', async () => {
    const pods = (await podsOf(kwok)).filter(
      ({ metadata, spec }) => metadata.name.startsWith('lobby') && spec.nodeName !== node,
    )
    const { lobby = [] } = await stateOf()
    return pods.length === 4 && lobby.filter(({ state }) => state === 'RUNNING').length === 4
  })
  const worlds = (await podsOf(kwok)).filter(({ metadata }) => metadata.name.startsWith('world'))
  console.log(`Pods of the persistent instance: ${worlds.length}`)

  await isBack
  clearInterval(keeper)
  await waitFor('all five instances run again', allRun)
}

runOnKwok(3, measure)
