import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Instance } from '../../../../src/contract/instance'
import { createNamespace, TEST_IMAGE, type TestCluster } from '../../../support/platform/cluster'
import { createAccount } from '../../../support/platform/clusterAccount'
import { freshDatabase } from '../../../support/platform/freshState'
import { startPlatform, type Account, type TestPlatform } from '../../../support/platform/startPlatform'
import { until } from '../../../support/platform/until'

const NAMESPACE = 'network'
const NODE = 'bed'

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
  let shareDir: string
  let kubeconfig: string
  let state: Awaited<ReturnType<typeof freshDatabase>>
  const key = randomBytes(32).toString('hex')
  let first: TestPlatform
  let second: TestPlatform
  let admin: Account

  async function startReplica(): Promise<TestPlatform> {
    const dataDir = mkdtempSync(join(tmpdir(), 'replica-'))
    writeFileSync(join(dataDir, 'secret.key'), key, { mode: 0o600 })
    return startPlatform({
      dataDir,
      shareDir,
      databaseUrl: state.url,
      environment: {
        QUARTERDECK_RUNTIME: 'kubernetes',
        QUARTERDECK_NAMESPACE: NAMESPACE,
        QUARTERDECK_IMAGE: TEST_IMAGE,
        KUBECONFIG: kubeconfig,
      },
    })
  }

  const call = async (...[method, url, body]: [Parameters<TestPlatform['call']>[0], string, unknown?]) => {
    const answer = await first.call(method, url, { token: admin.token, ...(body !== undefined && { body }) })
    if (answer.status >= 300) throw new Error(`${method} ${url}: ${answer.status} ${answer.body.message}`)
    return answer.body.data
  }
  const instancesOf = async (name: string) =>
    (await call('GET', `/api/deployments/${name}/instances`)).instances as Instance[]
  const reaches = async (
    name: string,
    state: Instance['state'],
    isOther: (instance: Instance) => boolean = () => true,
  ) =>
    (
      await until(
        () => instancesOf(name),
        ([instance]) => instance?.state === state && isOther(instance),
      )
    )[0]!
  const consoleOf = async (podName: string, platform = first) =>
    (await platform.runtime.history(podName, 1000)).map(({ content }) => content)
  const prints = (podName: string, text: RegExp, platform = first) =>
    until(
      () => consoleOf(podName, platform),
      (lines) => lines.some((line) => text.test(line)),
    )

  /** Creates a deployment of type persistent and enables it. */
  async function deploy(name: string, more = ''): Promise<void> {
    await call('POST', '/api/deployments', { name, type: 'persistent', node: NODE })
    await call('PATCH', `/api/deployments/${name}`, {
      content: `name: ${name}
type: persistent
dataDirectory: /${name}
node: ${NODE}
run:
  command: ["node", "-e", ${JSON.stringify(SERVER)}]
  port: 25565
stop: { command: stop, timeoutSeconds: 5 }
ready: '^motd'
${more}`,
    })
    writeFileSync(join(shareDir, name, 'motd.txt'), 'welcome\n')
    await call('POST', `/api/deployments/${name}/toggle`, { enabled: true })
  }

  beforeAll(async () => {
    shareDir = mkdtempSync(join(tmpdir(), 'share-'))
    mkdirSync(shareDir, { recursive: true })
    await createNamespace(cluster(), NAMESPACE, shareDir)
    state = await freshDatabase()
    // With the rights of the manifests, and no others.
    kubeconfig = await createAccount(cluster(), NAMESPACE, mkdtempSync(join(tmpdir(), 'account-')))
    first = await startReplica()
    admin = await first.register('admin')
    second = await startReplica()
  })
  afterAll(async () => {
    for (const { name } of (await first.deployments.list()) ?? []) await call('DELETE', `/api/deployments/${name}`)
    await first.close()
    await second.close()
    await state.drop()
  })

  test('an instance runs in a Pod, and every replica shows the same numbered console and writes to it', async () => {
    await deploy('world')
    const { podName, ip } = await reaches('world', 'RUNNING')
    expect(ip).toMatch(/^198\.51\.100\./)
    expect(await second.runtime.write(podName, 'hello from another replica')).toBe(true)
    await prints(podName, /^heard hello from another replica$/)
    await first.runtime.note(podName, '[System] a note of the first replica')
    await prints(podName, /a note of the first replica/, second)
    expect(await second.runtime.history(podName, 1000)).toEqual(await first.runtime.history(podName, 1000))
  })

  test('a viewer on each replica receives the lines that the other replica reads or writes', async () => {
    const [instance] = await instancesOf('world')
    const podName = instance!.podName
    const received = new Map<TestPlatform, string[]>([
      [first, []],
      [second, []],
    ])
    const unfollow = await Promise.all(
      [...received].map(([platform, lines]) =>
        platform.runtime.follow(podName, 1, (news) =>
          lines.push(...news.map(({ seq, content }) => `${seq} ${content}`)),
        ),
      ),
    )
    await first.runtime.write(podName, 'to both')
    await second.runtime.note(podName, '[System] a note of the second replica')
    for (const lines of received.values())
      await until(
        () => lines,
        (all) =>
          all.some((line) => / heard to both$/.test(line)) && all.some((line) => /note of the second/.test(line)),
      )
    expect(received.get(first)).toEqual(received.get(second))
    unfollow.forEach((end) => end())
  })

  test('a crash starts the instance again, and its console keeps the lines of both runs', async () => {
    const { podName, uid } = await reaches('world', 'RUNNING')
    await first.runtime.write(podName, 'crash')
    await prints(podName, /Ended by itself with exit code 3/)
    await reaches('world', 'RUNNING', ({ lastExit }) => lastExit !== undefined)
    const lines = await until(
      () => consoleOf(podName),
      (all) => all.filter((line) => line === 'motd welcome').length === 2,
    )
    expect(lines).toContain('[System] Starting again in 1 s.')
    expect((await instancesOf('world'))[0]).toMatchObject({ uid, podName })
    expect(readFileSync(join(shareDir, 'world/world.txt'), 'utf8')).toBe('xx')
  })

  test('decisions §15: a Pod that somebody else deletes is replaced, and does not count as a crash', async () => {
    const { podName, startedAt } = await reaches('world', 'RUNNING')
    const before = (await instancesOf('world'))[0]!
    await cluster().kubectl('-n', NAMESPACE, 'delete', 'pod', podName, '--wait=false')
    await prints(podName, /Ended by the cluster: its Pod was deleted in the cluster/)
    await reaches('world', 'RUNNING', (instance) => instance.startedAt !== startedAt)
    expect((await instancesOf('world'))[0]).toMatchObject({ crashedAt: before.crashedAt })
  })

  test('a file that is changed in the shared area is what the instance reads at its next start', async () => {
    const { podName } = await reaches('world', 'RUNNING')
    writeFileSync(join(shareDir, 'world/motd.txt'), 'changed\n')
    await call('POST', '/api/deployments/world/restart', {})
    await prints(podName, /^motd changed$/)
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

  test('an image that cannot be pulled is named in the console', async () => {
    await deploy('pulled')
    await reaches('pulled', 'RUNNING')
    const content = (await call('GET', '/api/deployments/pulled')).content as string
    await call('PATCH', '/api/deployments/pulled', {
      content: content.replace('  port:', '  image: registry.invalid/none:1\n  port:'),
    })
    const [instance] = await until(
      () => instancesOf('pulled'),
      (all) => all.length === 1,
    )
    const restart = call('POST', '/api/deployments/pulled/restart', {}).catch(() => undefined)
    await prints(instance!.podName, /^\[System\] Image registry\.invalid\/none:1 cannot be pulled: /)
    await call('DELETE', '/api/deployments/pulled')
    await restart
  })

  test('an instance that uses more memory than its limit says so in its console', async () => {
    const program = 'const all = []; setInterval(() => all.push(Buffer.alloc(16 * 2 ** 20, 1)), 10)'
    await call('POST', '/api/deployments', { name: 'greedy', type: 'process' })
    await call('PATCH', '/api/deployments/greedy', {
      content: `name: greedy
type: process
dataDirectory: /greedy
run: { command: ["node", "-e", "${program}"] }
resources: { memory: 128Mi }
`,
    })
    await call('POST', '/api/deployments/greedy/toggle', { enabled: true })
    const [instance] = await until(
      () => instancesOf('greedy'),
      (all) => all.length === 1,
    )
    await prints(instance!.podName, /^\[System\] Killed for memory: it may use 134217728 bytes\.$/)
    await call('DELETE', '/api/deployments/greedy')
  })

  test('instances of a scalable deployment have copies of their files, one port, and a file with their peers', async () => {
    await call('POST', '/api/deployments', { name: 'lobby', type: 'scalable' })
    const program =
      "const fs = require('node:fs'); fs.writeFileSync('own.txt', ''); const show = () => console.log(fs.readdirSync('.').join() + ' ' + process.env.PORT + ' ' + process.env.QUARTERDECK_NODE + ' ' + fs.readFileSync(process.env.QUARTERDECK_PEERS)); setInterval(show, 500)"
    await call('PATCH', '/api/deployments/lobby', {
      content: `name: lobby
type: scalable
dataDirectory: /lobby
run:
  command: ["node", "-e", ${JSON.stringify(program)}]
  port: 25570
instances: { min: 2, max: 2 }
discover: [world]
`,
    })
    writeFileSync(join(shareDir, 'lobby/shared.txt'), '')
    await call('POST', '/api/deployments/lobby/toggle', { enabled: true })
    const instances = await until(
      () => instancesOf('lobby'),
      (all) => all.length === 2 && all.every(({ state }) => state === 'RUNNING'),
    )
    const world = await reaches('world', 'RUNNING')
    for (const { podName } of instances)
      await prints(
        podName,
        new RegExp(
          `^own.txt,shared.txt 25570 ${NODE} \\{"deployments":\\{"world":\\[\\{"podName":"${world.podName}","ip":"${world.ip}"`,
        ),
      )
    expect(new Set(instances.map(({ ip }) => ip)).size).toBe(2)
    expect(readdirSync(join(shareDir, 'lobby'))).toEqual(['shared.txt'])
    await call('DELETE', '/api/deployments/lobby')
  })

  test('decisions §13: files of "keep" are written back when an instance has stopped in order, also after a forced deletion', async () => {
    const program =
      "const fs = require('node:fs'); fs.appendFileSync('list.txt', 'x'); fs.writeFileSync('other.txt', ''); console.log('list ' + fs.readFileSync('list.txt')); require('node:readline').createInterface({ input: process.stdin }).on('line', () => process.exit(0))"
    await call('POST', '/api/deployments', { name: 'kept', type: 'scalable' })
    await call('PATCH', '/api/deployments/kept', {
      content: `name: kept
type: scalable
dataDirectory: /kept
run: { command: ["node", "-e", ${JSON.stringify(program)}] }
keep: [list.txt]
stop: { command: stop, timeoutSeconds: 5 }
instances: { min: 1, max: 1 }
`,
    })
    await call('POST', '/api/deployments/kept/toggle', { enabled: true })
    const { podName } = await reaches('kept', 'RUNNING')
    await prints(podName, /^list x$/)
    expect(readdirSync(join(shareDir, 'kept'))).toEqual([])
    await call('POST', '/api/deployments/kept/restart', {})
    await prints(podName, /^\[System\] A file of "keep" was written back\.$/)
    await prints(podName, /^list xx$/)
    expect(readdirSync(join(shareDir, 'kept'))).toEqual(['list.txt'])

    await cluster().kubectl('-n', NAMESPACE, 'delete', 'pod', podName, '--force', '--grace-period=0', '--wait=false')
    await prints(podName, /were not written back: that happens only after an orderly stop/)
    await until(async () => (await consoleOf(podName)).filter((line) => line === 'list xx').length === 2)
    await call('DELETE', '/api/deployments/kept')
    // The orderly stop of the deletion has written it back once more.
    expect(readFileSync(join(shareDir, 'kept/list.txt'), 'utf8')).toBe('xx')
  })

  test('decisions §15: when the manager ends, another replica manages within 15 s', async () => {
    const { podName } = await reaches('world', 'RUNNING')
    const [manager, other] = [first, second]
    first = other
    await manager.close()
    second = await startReplica()
    const endedAt = Date.now()
    await first.runtime.write(podName, 'crash')
    await until(
      () => consoleOf(podName),
      (lines) => lines.at(-1)?.startsWith('motd') === true,
    )
    expect(Date.now() - endedAt).toBeLessThan(15_000)
  })

  test('the API server may be away: what was known is shown, and everything goes on when it is back', async () => {
    const { podName } = await reaches('world', 'RUNNING')
    const back = cluster().script('restart.sh', 'kube-apiserver', '6')
    await until(
      async () =>
        (await first.call('GET', '/api/health')).status === 503 || first.runtime.lastContactAt! < Date.now() - 4000,
    )
    expect((await instancesOf('world'))[0]).toMatchObject({ podName, state: 'RUNNING' })
    await back
    // The kubelet asks the API server whether input is allowed, and remembers a failed answer for 30 s.
    await until(() => first.runtime.write(podName, 'after the outage'), Boolean, 150)
    await prints(podName, /^heard after the outage$/)
    await until(async () => (await first.call('GET', '/api/health')).status === 200)
  }, 240_000)
}
