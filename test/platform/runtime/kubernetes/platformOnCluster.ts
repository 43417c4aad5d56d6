import { readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createClusterClient } from '../../../../src/platform/runtime/kubernetes/clusterClient'
import type { TestCluster } from '../../../support/platform/cluster'
import type { TestPlatform } from '../../../support/platform/startPlatform'
import { until } from '../../../support/platform/until'
import { startClusterNetwork, type ClusterNetwork } from './clusterNetwork'

const NAMESPACE = 'network'

/** A program for `node -e` that reads a file and answers its standard input, as a game server would. */
const SERVER = `
  const fs = require('node:fs')
  console.log('motd ' + fs.readFileSync('motd.txt', 'utf8').trim())
  fs.appendFileSync('world.txt', 'x')
  require('node:net').createServer().listen(Number(process.env.PORT))
  require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
    if (line === 'stop') process.exit(0)
    if (line === 'crash') process.exit(3)
    console.log('heard ' + line)
  })`

/** Two replicas of the platform that run a network on a real cluster. */
export function platformOnCluster(cluster: () => TestCluster): void {
  let network: ClusterNetwork

  /** Deploys the program above. */
  const deploy = (name: string) =>
    network.deploy(
      name,
      'persistent',
      `run:
  command: ["node", "-e", ${JSON.stringify(SERVER)}]
  port: 25565
stop: { command: stop, timeoutSeconds: 5 }
ready: '^motd'
`,
      { 'motd.txt': 'welcome\n' },
    )

  beforeAll(async () => {
    network = await startClusterNetwork(cluster(), NAMESPACE)
  })
  afterAll(() => network.close())

  test('an instance runs in a Pod, and every replica shows the same numbered console and writes to it', async () => {
    await deploy('world')
    const { podName, ip } = await network.reaches('world', 'RUNNING')
    expect(ip).toMatch(/^198\.51\.100\./)
    expect(await network.second.runtime.write(podName, 'hello from another replica')).toBe(true)
    await network.prints(podName, /^heard hello from another replica$/)
    await network.first.runtime.note(podName, '[System] a note of the first replica')
    await network.prints(podName, /a note of the first replica/, network.second)
    expect(await network.second.runtime.history(podName, 1000)).toEqual(
      await network.first.runtime.history(podName, 1000),
    )
  })

  test('a viewer on each replica receives the lines that the other replica reads or writes', async () => {
    const [instance] = await network.instancesOf('world')
    const podName = instance!.podName
    const received = new Map<TestPlatform, string[]>([
      [network.first, []],
      [network.second, []],
    ])
    const unfollow = await Promise.all(
      [...received].map(([platform, lines]) =>
        platform.runtime.follow(podName, 1, (news) =>
          lines.push(...news.map(({ seq, content }) => `${seq} ${content}`)),
        ),
      ),
    )
    await network.first.runtime.write(podName, 'to both')
    await network.second.runtime.note(podName, '[System] a note of the second replica')
    for (const lines of received.values())
      await until(
        () => lines,
        (all) =>
          all.some((line) => / heard to both$/.test(line)) && all.some((line) => /note of the second/.test(line)),
      )
    expect(received.get(network.first)).toEqual(received.get(network.second))
    unfollow.forEach((end) => end())
  })

  test('a crash starts the instance again, and its console keeps the lines of both runs', async () => {
    const { podName, uid } = await network.reaches('world', 'RUNNING')
    await network.first.runtime.write(podName, 'crash')
    await network.prints(podName, /Ended by itself with exit code 3/)
    await network.reaches('world', 'RUNNING', ({ lastExit }) => lastExit !== undefined)
    const lines = await until(
      () => network.consoleOf(podName),
      (all) => all.filter((line) => line === 'motd welcome').length === 2,
    )
    expect(lines).toContain('[System] Starting again in 1 s.')
    // The other replica has written to the first run.
    expect(await network.second.runtime.write(podName, 'hello to the second run')).toBe(true)
    await network.prints(podName, /^heard hello to the second run$/)
    expect((await network.instancesOf('world'))[0]).toMatchObject({ uid, podName })
    expect(readFileSync(join(network.shareDir, 'world/world.txt'), 'utf8')).toBe('xx')
  })

  test('decisions §15: a Pod that is deleted in the cluster is replaced, and does not count as a crash', async () => {
    const { podName, startedAt } = await network.reaches('world', 'RUNNING')
    const before = (await network.instancesOf('world'))[0]!
    await cluster().kubectl('-n', NAMESPACE, 'delete', 'pod', podName, '--wait=false')
    await network.prints(podName, /Ended by the cluster: its Pod was deleted in the cluster/)
    await network.reaches('world', 'RUNNING', (instance) => instance.startedAt !== startedAt)
    expect((await network.instancesOf('world'))[0]).toMatchObject({ crashedAt: before.crashedAt })
  })

  test('a file that was edited on the page is what the instance reads at its next start', async () => {
    const { podName } = await network.reaches('world', 'RUNNING')
    await network.call('PATCH', '/api/sftp/file/content', { path: '/nfsshare/world/motd.txt', content: 'changed\n' })
    await network.call('POST', '/api/deployments/world/restart', {})
    await network.prints(podName, /^motd changed$/)
  })

  test('decisions §15: a deployment with a port has a headless Service of its name', async () => {
    const spec = await until(() =>
      cluster()
        .kubectl('-n', NAMESPACE, 'get', 'service', 'world', '-o', 'jsonpath={.spec.clusterIP} {.spec.ports[0].port}')
        .catch(() => ''),
    )
    expect(spec).toBe('None 25565')
    await until(async () => {
      const addresses = await cluster().kubectl(
        '-n',
        NAMESPACE,
        'get',
        'endpoints',
        'world',
        '-o',
        'jsonpath={.subsets}',
      )
      return addresses.includes('198.51.100.')
    })
  })

  test.each([
    ['nodePort', 'NodePort'],
    ['loadBalancer', 'LoadBalancer'],
  ])('decisions §15: "expose: %s" adds a Service of the type %s', async (expose, type) => {
    const name = `gate-${type.toLowerCase()}`
    await network.call('POST', '/api/deployments', { name, type: 'scalable' })
    const content = `name: ${name}\ntype: scalable\ndataDirectory: /${name}\nrun: { command: [node], port: 25599 }\nexpose: ${expose}\n`
    await network.call('PATCH', `/api/deployments/${name}`, { content })
    await until(
      () =>
        cluster()
          .kubectl(
            '-n',
            NAMESPACE,
            'get',
            'service',
            `${name}-exposed`,
            '-o',
            'jsonpath={.spec.type} {.spec.ports[0].port}',
          )
          .catch(() => ''),
      (text) => text === `${type} 25599`,
    )
    await network.call('DELETE', `/api/deployments/${name}`)
    await until(
      () => cluster().kubectl('-n', NAMESPACE, 'get', 'services', '-o', 'name'),
      (names) => !names.includes(name) && names.includes('service/world\n'),
    )
  })

  test('decisions §14: another instance is discovered by the address of its Pod', async () => {
    const { podName, ip } = await network.reaches('world', 'RUNNING')
    const { deployments } = await network.call('GET', '/api/discovery?deployment=world')
    expect(deployments).toMatchObject({ world: [{ podName, ip, port: 25565, state: 'RUNNING' }] })
  })

  test('standard input is attached by the newest subprotocol', async () => {
    const { podName } = await network.reaches('world', 'RUNNING')
    const client = createClusterClient({ kubeconfig: cluster().kubeconfig }, NAMESPACE)
    const input = await client.connectInput(podName, 'instance')
    expect(input.protocol).toBe('v5.channel.k8s.io')
    input.terminate()
  })

  test('an image that cannot be pulled is named in the console', async () => {
    await deploy('pulled')
    await network.reaches('pulled', 'RUNNING')
    const content = (await network.call('GET', '/api/deployments/pulled')).content as string
    await network.call('PATCH', '/api/deployments/pulled', {
      content: content.replace('  port:', '  image: registry.invalid/none:1\n  port:'),
    })
    const [instance] = await until(
      () => network.instancesOf('pulled'),
      (all) => all.length === 1,
    )
    const restart = network.call('POST', '/api/deployments/pulled/restart', {}).catch(() => undefined)
    await network.prints(instance!.podName, /^\[System\] Image registry\.invalid\/none:1 cannot be pulled: /)
    await network.call('DELETE', '/api/deployments/pulled')
    await restart
  })

  test('an instance that uses more memory than its limit says so in its console', async () => {
    const program = 'const all = []; setInterval(() => all.push(Buffer.alloc(16 * 2 ** 20, 1)), 10)'
    await network.deploy(
      'greedy',
      'process',
      `run: { command: ["node", "-e", "${program}"] }
resources: { memory: 128Mi }
`,
    )
    const [instance] = await until(
      () => network.instancesOf('greedy'),
      (all) => all.length === 1,
    )
    await network.prints(instance!.podName, /^\[System\] Killed for memory: it may use 134217728 bytes\.$/)
    const crash = await until(() =>
      network.call('GET', `/api/deployments/greedy/instances/${instance!.uid}/crash`).catch(() => undefined),
    )
    expect(crash!.exit).toMatchObject({ reason: 'Killed for memory: it may use 134217728 bytes' })
    await network.call('DELETE', '/api/deployments/greedy')
  })

  test('instances of a scalable deployment have copies of their files, one port, and a file with their peers', async () => {
    const program =
      "const fs = require('node:fs'); fs.writeFileSync('own.txt', ''); const show = () => console.log(fs.readdirSync('.').join() + ' ' + process.env.PORT + ' ' + process.env.QUARTERDECK_NODE + ' ' + fs.readFileSync(process.env.QUARTERDECK_PEERS)); setInterval(show, 500)"
    await network.deploy(
      'lobby',
      'scalable',
      `run:
  command: ["node", "-e", ${JSON.stringify(program)}]
  port: 25570
instances: { min: 2, max: 2 }
discover: [world]
`,
      { 'shared.txt': '' },
    )
    const instances = await until(
      () => network.instancesOf('lobby'),
      (all) => all.length === 2 && all.every(({ state }) => state === 'RUNNING'),
    )
    const world = await network.reaches('world', 'RUNNING')
    for (const { podName } of instances)
      await network.prints(
        podName,
        new RegExp(
          `^own.txt,shared.txt 25570 ${network.node} \\{"deployments":\\{"world":\\[\\{"podName":"${world.podName}","ip":"${world.ip}"`,
        ),
      )
    expect(new Set(instances.map(({ ip }) => ip)).size).toBe(2)
    expect(readdirSync(join(network.shareDir, 'lobby'))).toEqual(['shared.txt'])
    await network.call('DELETE', '/api/deployments/lobby')
  })

  test('decisions §13: files of "keep" are written back when an instance has stopped in order, also after a forced deletion', async () => {
    const program =
      "const fs = require('node:fs'); fs.appendFileSync('list.txt', 'x'); fs.writeFileSync('other.txt', ''); console.log('list ' + fs.readFileSync('list.txt')); require('node:readline').createInterface({ input: process.stdin }).on('line', () => process.exit(0))"
    await network.deploy(
      'kept',
      'scalable',
      `run: { command: ["node", "-e", ${JSON.stringify(program)}] }
keep: [list.txt]
stop: { command: stop, timeoutSeconds: 5 }
instances: { min: 1, max: 1 }
`,
    )
    const { podName } = await network.reaches('kept', 'RUNNING')
    await network.prints(podName, /^list x$/)
    expect(readdirSync(join(network.shareDir, 'kept'))).toEqual([])
    await network.call('POST', '/api/deployments/kept/restart', {})
    await network.prints(podName, /^\[System\] A file of "keep" was written back\.$/)
    await network.prints(podName, /^list xx$/)
    expect(readdirSync(join(network.shareDir, 'kept'))).toEqual(['list.txt'])

    await cluster().kubectl('-n', NAMESPACE, 'delete', 'pod', podName, '--force', '--grace-period=0', '--wait=false')
    await network.prints(podName, /were not written back: that happens only after an orderly stop/)
    await until(
      () => network.consoleOf(podName),
      (lines) => lines.filter((line) => line === 'list xx').length === 2,
    )
    await network.call('DELETE', '/api/deployments/kept')
    // The orderly stop of the deletion has written it back once more.
    expect(readFileSync(join(network.shareDir, 'kept/list.txt'), 'utf8')).toBe('xx')
  })

  test('security 172: of "keep", what was changed since the copy was made stays or is written back, whatever its time', async () => {
    const program =
      "const fs = require('node:fs'); console.log('Ready'); require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => { if (line === 'stop') process.exit(0); fs.writeFileSync('fetched.txt', 'new'); fs.utimesSync('fetched.txt', 1e9, 1e9); console.log('fetched') })"
    await network.deploy(
      'restored',
      'scalable',
      `run: { command: ["node", "-e", ${JSON.stringify(program)}] }
ready: Ready
keep: ["*.txt"]
stop: { command: stop, timeoutSeconds: 5 }
instances: { min: 1, max: 1 }
`,
      { 'ops.txt': 'as it was at the start', 'fetched.txt': 'old' },
    )
    const { podName } = await network.reaches('restored', 'RUNNING')
    const pathOf = (name: string) => join(network.shareDir, 'restored', name)
    rmSync(pathOf('ops.txt'))
    writeFileSync(pathOf('ops.txt'), 'of a backup')
    utimesSync(pathOf('ops.txt'), 1e9, 1e9)
    await network.first.runtime.write(podName, 'fetch')
    await network.prints(podName, /^fetched$/)
    await network.call('DELETE', '/api/deployments/restored')
    expect(['ops.txt', 'fetched.txt'].map((name) => readFileSync(pathOf(name), 'utf8'))).toEqual(['of a backup', 'new'])
  })

  test('decisions §15: when the manager ends, another replica takes over within 15 s', async () => {
    const { podName } = await network.reaches('world', 'RUNNING')
    const { first: manager, second: other } = network
    network.first = other
    await manager.close()
    network.second = await network.startReplica()
    const endedAt = Date.now()
    const countStarts = (lines: string[]) => lines.filter((line) => line.startsWith('motd')).length
    const before = countStarts(await network.consoleOf(podName))
    expect(await network.first.runtime.write(podName, 'crash')).toBe(true)
    await until(
      () => network.consoleOf(podName),
      (lines) => countStarts(lines) > before,
    )
    expect(Date.now() - endedAt).toBeLessThan(15_000)
  })
}
