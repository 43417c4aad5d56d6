import { join } from 'node:path'
import { readFileSync, writeFileSync } from 'node:fs'
import type { TestCluster } from '../../../support/platform/cluster'
import { createTemporaryDirectory } from '../../../support/platform/temporaryDirectory'
import { until } from '../../../support/platform/until'
import { startClusterNetwork, type ClusterNetwork } from './clusterNetwork'

const NAMESPACE = 'faults'

/** A program for `node -e` that prints a number every 100 ms, and answers its standard input. */
const TICKING = `
  const fs = require('node:fs')
  fs.appendFileSync('starts.txt', 'x')
  let tick = 0
  setInterval(() => console.log('tick ' + ++tick), 100)
  require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
    if (line === 'stop') setTimeout(() => process.exit(0), 3000)
    if (line === 'many') for (let line = 1; line <= 200000; line++) console.log('line ' + line)
    console.log('heard ' + line)
  })`

/** A network on a real cluster whose parts fail. */
export function faultsOnCluster(cluster: () => TestCluster): void {
  let network: ClusterNetwork

  const settings = `run: { command: ["node", "-e", ${JSON.stringify(TICKING)}] }
stop: { command: stop, timeoutSeconds: 20 }
ready: '^tick'
`
  const deploy = (name: string) => network.deploy(name, 'persistent', settings)
  const startsOf = (name: string) => readFileSync(join(network.shareDir, name, 'starts.txt'), 'utf8').length
  const kubectl = (...args: string[]) => cluster().kubectl('-n', NAMESPACE, ...args)
  const podUid = (podName: string) => kubectl('get', 'pod', podName, '-o', 'jsonpath={.metadata.uid}')
  const health = () => network.first.call('GET', '/api/health')
  const overview = () => network.call('GET', '/api/deployments?instances=true')
  /** Writes until the kubelet accepts input: it remembers a failed question to the API server for 30 s. */
  const writes = async (podName: string, line: string) => {
    await until(() => network.first.runtime.write(podName, line), Boolean, 150)
    await network.prints(podName, new RegExp(`^heard ${line}$`))
  }
  /** The numbers that a console has printed since its last start. */
  const ticksOf = async (podName: string) => {
    const ticks = (await network.consoleOf(podName)).flatMap((line) => /^tick (\d+)$/.exec(line)?.[1] ?? []).map(Number)
    return ticks.slice(ticks.lastIndexOf(1) + 1)
  }

  /** Kills the scheduler and the controller manager, and starts them after so many seconds. */
  const restartControllers = (seconds: string) =>
    Promise.all(
      ['kube-scheduler', 'kube-controller-manager'].map((part) => cluster().script('restart.sh', part, seconds)),
    )

  beforeAll(async () => {
    network = await startClusterNetwork(cluster(), NAMESPACE)
    await deploy('world')
    await network.reaches('world', 'RUNNING')
  })
  afterAll(() => network.close())

  test('Pods that are evicted or deleted in the cluster are replaced each time, and never block the instance', async () => {
    const { podName } = await network.reaches('world', 'RUNNING')
    const replaced = async (end: () => Promise<unknown>, line: RegExp) => {
      const uid = await podUid(podName)
      await end()
      await until(
        () => podUid(podName).catch(() => uid),
        (present) => present !== uid,
      )
      await network.prints(podName, line)
      await network.reaches('world', 'RUNNING')
    }
    const eviction = join(createTemporaryDirectory('eviction'), 'eviction.json')
    writeFileSync(
      eviction,
      JSON.stringify({ apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: podName, namespace: NAMESPACE } }),
    )
    await replaced(
      () => kubectl('create', '--raw', `/api/v1/namespaces/${NAMESPACE}/pods/${podName}/eviction`, '-f', eviction),
      /Ended by the cluster: Eviction API: evicting/,
    )
    // More often than crashes may follow each other.
    for (let time = 0; time < 6; time++)
      await replaced(
        () => kubectl('delete', 'pod', podName, '--wait=false', '--grace-period=1'),
        /its Pod was deleted in the cluster/,
      )
    expect((await network.instancesOf('world'))[0]).toMatchObject({ state: 'RUNNING' })
    expect((await network.instancesOf('world'))[0]).not.toHaveProperty('crashedAt')
  })

  test('a Pod has one field manager of the platform, even when others change it meanwhile', async () => {
    const { podName } = await network.reaches('world', 'RUNNING')
    const uid = await podUid(podName)
    const ended = new AbortController()
    const meddling = (async () => {
      for (let change = 0; !ended.signal.aborted; change++)
        await kubectl('annotate', '--overwrite', 'pod', podName, `elsewhere=${change}`).catch(() => undefined)
    })()
    await network.call('POST', '/api/deployments/world/restart', {})
    await network.reaches('world', 'RUNNING')
    ended.abort()
    await meddling
    expect(await podUid(podName)).not.toBe(uid)
    const { metadata } = JSON.parse(await kubectl('get', 'pod', podName, '-o', 'json', '--show-managed-fields')) as {
      metadata: { managedFields: { manager: string; operation: string; subresource?: string }[] }
    }
    expect(
      metadata.managedFields.filter(
        ({ manager, subresource }) => !manager.startsWith('kube') && subresource === undefined,
      ),
    ).toEqual([expect.objectContaining({ manager: 'quarterdeck', operation: 'Apply' })])
  })

  test('when the kubelet is killed, instances continue and no line is lost', async () => {
    const { podName } = await network.reaches('world', 'RUNNING')
    const starts = startsOf('world')
    const uid = await podUid(podName)
    await cluster().script('restart.sh', 'kubelet', '10')
    await writes(podName, 'after the kubelet')
    const ticks = await ticksOf(podName)
    expect(ticks).toEqual(ticks.map((_tick, at) => ticks[0]! + at))
    expect([await podUid(podName), startsOf('world')]).toEqual([uid, starts])
  })

  test('a burst of output is read to its end, and lines that the kubelet has discarded are reported as missing', async () => {
    const { podName } = await network.reaches('world', 'RUNNING')
    const numbers: number[] = []
    const unfollow = await network.second.runtime.follow(podName, 1, (lines) => {
      numbers.push(...lines.map(({ seq }) => seq))
    })
    await writes(podName, 'many')
    // A viewer who is slower than the burst misses lines that are no longer kept, and sees their numbers missing.
    const stored = await network.second.runtime.history(podName, 10_000)
    await until(() => numbers.at(-1)! >= stored.at(-1)!.seq)
    unfollow()
    expect(numbers).toEqual([...numbers].sort((one, other) => one - other))
    expect(stored.map(({ seq }) => seq)).toEqual(stored.map((_line, at) => stored[0]!.seq + at))
    let last = NaN
    for (const { content } of stored) {
      const number = Number(/^line (\d+)$/.exec(content)?.[1])
      if (/missing/.test(content)) last = NaN
      if (Number.isNaN(number)) continue
      if (!Number.isNaN(last)) expect(number).toBe(last + 1)
      last = number
    }
    expect(last).toBe(200_000)
  })

  test('when the API server is unreachable for a minute, nothing is lost and nothing hangs', async () => {
    const { podName, startedAt } = await network.reaches('world', 'RUNNING')
    const starts = startsOf('world')
    await deploy('stopping')
    await network.reaches('stopping', 'RUNNING')
    await network.call('POST', '/api/deployments/stopping/toggle', { enabled: false })
    await deploy('starting')
    // A controller manager that runs on remembers that the node was silent, and may end its Pods before it hears from
    // it.
    const areBack = Promise.all([cluster().script('restart.sh', 'kube-apiserver', '60'), restartControllers('60')])

    await until(async () => (await health()).status === 503, Boolean, 60)
    expect(await health()).toMatchObject({ body: { message: 'Not ready: cluster' } })
    expect((await network.first.call('GET', '/api/health?except=cluster')).status).toBe(200)
    const { clusterSilentSince, deployments } = await overview()
    expect(clusterSilentSince).toBeLessThan(Date.now() - 15_000)
    expect(deployments).toContainEqual(
      expect.objectContaining({ name: 'world', instances: [expect.objectContaining({ podName, state: 'RUNNING' })] }),
    )
    expect(await network.instancesOf('world')).toMatchObject([{ podName, clusterSilentSince }])
    expect((await network.consoleOf(podName)).some((line) => line.startsWith('tick'))).toBe(true)
    const { token } = network.admin
    expect(await network.first.call('POST', '/api/deployments/world/restart', { token, body: {} })).toMatchObject({
      status: 503,
      body: { message: expect.stringMatching(/^The Kubernetes cluster does not answer/) },
    })

    await areBack
    await until(() => kubectl('get', '--raw', '/readyz').catch(() => ''))
    // They end if they start before the API server answers.
    await restartControllers('0')
    await until(async () => (await health()).status === 200)
    await until(
      () => network.instancesOf('starting'),
      ([instance]) => instance?.state === 'RUNNING',
      200,
    )
    await until(
      () => network.instancesOf('stopping'),
      (instances) => instances.length === 0,
    )
    await writes(podName, 'after the outage')
    expect(await overview()).not.toHaveProperty('clusterSilentSince')
    expect(await network.reaches('world', 'RUNNING')).toMatchObject({ podName, startedAt })
    expect(await network.instancesOf('world')).not.toMatchObject([{ clusterSilentSince: expect.any(Number) }])
    expect([startsOf('world'), startsOf('starting'), startsOf('stopping')]).toEqual([starts, 1, 1])
    const ticks = await ticksOf(podName)
    expect(ticks).toEqual(ticks.map((_tick, at) => ticks[0]! + at))
  }, 500_000)
}
