import { setTimeout as delay } from 'node:timers/promises'
import type { Deployment } from '../../../../src/contract/deployment'
import type { Instance } from '../../../../src/contract/instance'
import { clusterTitle, hasCluster, startCluster, type TestCluster } from '../../../support/platform/cluster'
import { keepAlive, podsOf, type FakedPod } from '../../../support/platform/fakedNodes'
import { createRandom } from '../../../support/platform/fuzz/random'
import { until } from '../../../support/platform/until'
import { startClusterNetwork, type ClusterNetwork } from './clusterNetwork'

const NAMESPACE = 'many'
const DEPLOYMENTS = 10
const INSTANCES = 10
const names = Array.from({ length: DEPLOYMENTS }, (_, at) => `lobby-${at}`)

;(hasCluster ? describe : describe.skip)(clusterTitle('two replicas on a cluster of three faked nodes'), () => {
  let cluster: TestCluster
  let network: ClusterNetwork

  const podNames = async () => (await podsOf(cluster, NAMESPACE)).map(({ metadata }) => metadata.name).sort()
  async function instances(): Promise<Instance[]> {
    const { deployments } = await network.call('GET', '/api/deployments?instances=true')
    return (deployments as Deployment[]).flatMap((deployment) => deployment.instances ?? [])
  }
  const running = async () => (await instances()).filter(({ state }) => state === 'RUNNING')
  const toggle = (name: string, enabled: boolean) =>
    network.call('POST', `/api/deployments/${name}/toggle`, { enabled })

  beforeAll(async () => {
    cluster = await startCluster('--kwok', '--nodes', '3')
    network = await startClusterNetwork(cluster, NAMESPACE)
  }, 120_000)
  afterAll(async () => {
    await network?.close()
    await cluster?.stop()
  }, 120_000)

  test('a hundred instances start at once and stop at once, each in exactly one Pod', async () => {
    for (const name of names) {
      await network.call('POST', '/api/deployments', { name, type: 'scalable' })
      const content = `name: ${name}\ntype: scalable\ndataDirectory: /${name}\nrun: { command: [game] }\ninstances: { min: ${INSTANCES}, max: ${INSTANCES} }\n`
      await network.call('PATCH', `/api/deployments/${name}`, { content })
    }
    await Promise.all(names.map((name) => toggle(name, true)))
    const started = await until(running, (found) => found.length === DEPLOYMENTS * INSTANCES, 120)
    expect(await podNames()).toEqual(started.map(({ podName }) => podName).sort())

    await Promise.all(names.map((name) => toggle(name, false)))
    await until(podNames, (found) => found.length === 0, 120)
    expect(await instances()).toEqual([])
  }, 300_000)

  test('while deployments are enabled and disabled again and again, the last request of each counts', async () => {
    const random = createRandom(100)
    const last = new Map(names.map((name) => [name, false]))
    for (let round = 0; round < 10; round++)
      await Promise.all(
        names.map(async (name) => {
          const enabled = random.int(2) === 1
          last.set(name, enabled)
          await toggle(name, enabled)
        }),
      )
    const enabled = names.filter((name) => last.get(name))
    const isSettled = (found: Instance[]) => found.length === enabled.length * INSTANCES
    const settled = await until(
      instances,
      (found) => isSettled(found) && found.every(({ state }) => state === 'RUNNING'),
      120,
    )
    expect(new Set(settled.map(({ deployment }) => deployment))).toEqual(new Set(enabled))
    await until(podNames, (found) => found.length === settled.length, 120)
    expect(await podNames()).toEqual(settled.map(({ podName }) => podName).sort())
    for (const name of names) await network.call('DELETE', `/api/deployments/${name}`)
    expect(await podNames()).toEqual([])
  }, 300_000)

  test('security 240: while a finalizer of another program holds a Pod, other instances start, and calls name the finalizer', async () => {
    const deploy = async (name: string, settings: string) => {
      await network.call('POST', '/api/deployments', { name, type: 'scalable' })
      const content = `name: ${name}\ntype: scalable\ndataDirectory: /${name}\nrun: { command: [game] }\n${settings}`
      await network.call('PATCH', `/api/deployments/${name}`, { content })
      await toggle(name, true)
      return network.reaches(name, 'RUNNING')
    }
    const podOf = async (podName: string) =>
      JSON.parse(await cluster.kubectl('get', 'pod', podName, '-n', NAMESPACE, '-o', 'json')) as FakedPod
    const patch = (podName: string, finalizers: string[] | null) =>
      cluster.kubectl(
        'patch',
        'pod',
        podName,
        '-n',
        NAMESPACE,
        '--type=merge',
        '-p',
        JSON.stringify({ metadata: { finalizers } }),
      )
    const { podName } = await deploy('held', 'keep: [list.txt]\n')
    await patch(podName, ['quarterdeck.io/keep', 'example.com/audit'])
    const deletion = network.call('DELETE', '/api/deployments/held')
    const refused = expect(deletion).rejects.toThrow(
      /409 \w+-held has not ended yet: The cluster keeps its Pod until .* \(example\.com\/audit\)\. The deletion continues/,
    )
    await until(
      () => podOf(podName),
      ({ metadata }) => metadata.deletionTimestamp !== undefined && metadata.finalizers?.length === 1,
    )
    const begun = performance.now()
    await deploy('other', '')
    expect(performance.now() - begun).toBeLessThan(15_000)
    await refused
    expect((await podOf(podName)).metadata.finalizers).toEqual(['example.com/audit'])
    await patch(podName, null)
    await until(
      async () => (await network.first.deployments.list()).map(({ name }) => name),
      (found) => !found.includes('held'),
    )
    await network.call('DELETE', '/api/deployments/other')
    expect(await podNames()).toEqual([])
  }, 300_000)

  test('when a node is gone, scalable instances move to other nodes, and a persistent one waits for it', async () => {
    const { nodes } = (await network.call('GET', '/api/network/nodes')) as { nodes: string[] }
    const [gone = '', ...others] = nodes
    await network.call('POST', '/api/deployments', { name: 'world', type: 'persistent', node: gone })
    await network.call('POST', '/api/deployments', { name: 'hall', type: 'scalable' })
    for (const [name, settings] of [
      ['world', `type: persistent\nnode: ${gone}`],
      ['hall', 'type: scalable\ninstances: { min: 6, max: 6 }'],
    ] as const) {
      const content = `name: ${name}\n${settings}\ndataDirectory: /${name}\nrun: { command: [game] }\n`
      await network.call('PATCH', `/api/deployments/${name}`, { content })
      await toggle(name, true)
    }
    await until(running, (found) => found.length === 7)
    const before = await podsOf(cluster, NAMESPACE)
    const ofWorld = before.find(({ metadata }) => metadata.name.startsWith('world'))!
    expect(before.filter(({ spec }) => spec.nodeName === gone).length).toBeGreaterThan(1)

    const ended = new AbortController()
    const kept = (async () => {
      while (!ended.signal.aborted) {
        await keepAlive(cluster, NAMESPACE, others).catch(() => undefined)
        await delay(2000, undefined, { signal: ended.signal }).catch(() => undefined)
      }
    })()
    const isBack = cluster.script('restart.sh', 'kwok', '150')
    await until(
      () => podsOf(cluster, NAMESPACE),
      (pods) => {
        const halls = pods.filter(
          ({ metadata, spec, status }) =>
            metadata.name.startsWith('hall') && others.includes(spec.nodeName ?? '') && status.phase === 'Running',
        )
        return halls.length === 6
      },
      200,
    )
    await until(running, (found) => found.filter(({ deployment }) => deployment === 'hall').length === 6)
    const waiting = await network.instancesOf('world')
    expect(waiting).toHaveLength(1)
    expect(await network.consoleOf(waiting[0]!.podName)).toEqual(
      expect.arrayContaining([expect.stringMatching(/^\[System\] .*node/i)]),
    )
    expect(await podsOf(cluster, NAMESPACE)).toContainEqual(
      expect.objectContaining({ metadata: expect.objectContaining({ uid: ofWorld.metadata.uid }) }),
    )
    await isBack
    ended.abort()
    await kept
    await network.reaches('world', 'RUNNING')
    const worlds = (await podsOf(cluster, NAMESPACE)).filter(({ metadata }) => metadata.name.startsWith('world'))
    expect(worlds.map(({ spec }) => spec.nodeName)).toEqual([gone])
    await until(running, (found) => found.length === 7)
  }, 600_000)
})
