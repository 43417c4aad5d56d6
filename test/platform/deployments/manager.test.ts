import { createServer, type AddressInfo } from 'node:net'
import { mkdir, readdir, readFile, realpath, stat, symlink, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import pg, { type Pool } from 'pg'
import pino from 'pino'
import type { Peers } from '../../../src/contract/discovery'
import { parseDefinition } from '../../../src/platform/deployments/definitions'
import { createDeployments } from '../../../src/platform/deployments/deployments'
import { createDiscovery, type Discovery } from '../../../src/platform/deployments/discovery'
import { createPower } from '../../../src/platform/deployments/power'
import { createListeningSockets } from '../../../src/platform/deployments/listeningSockets'
import { startManager, type Manager } from '../../../src/platform/deployments/manager'
import { reconcile } from '../../../src/platform/deployments/reconcile'
import { makeSample } from '../../../src/platform/deployments/sample'
import { createUsageMeter } from '../../../src/platform/deployments/usageMeter'
import { openLocalRuntime } from '../../../src/platform/runtime/local/localRuntime'
import type { Runtime } from '../../../src/platform/runtime/runtime'
import { createReplicas, type Replicas } from '../../../src/platform/share/replicas'
import { insertDeployment } from '../../../src/platform/state/deployments'
import { lastBeat } from '../../../src/platform/state/heartbeats'
import { freePort } from '../../support/platform/freePort'
import { freshState, type FreshState } from '../../support/platform/freshState'
import { stopHost } from '../../support/platform/stopHost'
import { useTemporaryDirectory } from '../../support/platform/temporaryDirectory'
import { until } from '../../support/platform/until'

const directory = useTemporaryDirectory()
const log = pino({ level: 'silent' })
let state: FreshState
let runtime: Runtime
let replicas: Replicas
let managers: Manager[] = []
/** Who plays where: asking real servers is another test's. */
const playing = new Map<string, number | undefined>()
const watch = { of: (podName: string) => playersOf(playing.has(podName) ? playing.get(podName) : 0), portWarning: () => undefined, close: async () => undefined }
const playersOf = (count: number | undefined) => (count === undefined ? undefined : { count, names: {} })
const listening = createListeningSockets()
const clock = { ahead: 0 }
let discovery: Discovery

beforeAll(async () => {
  replicas = createReplicas(directory(), log)
  runtime = await openLocalRuntime({ dataDir: directory(), replicas })
})
afterAll(async () => {
  await runtime.close()
  await replicas.close()
  await stopHost(directory())
})
beforeEach(async () => {
  playing.clear()
  clock.ahead = 0
  state = await freshState()
  discovery = createDiscovery({ db: state.db, runtime, players: () => watch, directory: join(directory(), 'runtime/peers'), log })
  await mkdir(join(directory(), 'nfsshare'), { recursive: true })
})
afterEach(async () => {
  await Promise.all(managers.map((manager) => manager.close()))
  managers = []
  // A manager with nothing wanted ends what this test has left.
  await state.db.deleteFrom('deployments').execute()
  const last = manage()
  await until(() => runtime.list(), (all) => all.length === 0)
  await last.close()
  managers = []
  await discovery.close()
  await state.close()
})

const shareDir = () => join(directory(), 'nfsshare')

function manage(pool: Pool = state.pool): Manager {
  const manager = startManager({ db: state.db, pool, runtime, players: watch, listening, discovery, shareDir: shareDir(), replicas, log, now: () => Date.now() + clock.ahead })
  managers.push(manager)
  return manager
}

const deployments = () =>
  createDeployments({
    db: state.db,
    runtime,
    players: watch,
    usage: createUsageMeter(runtime, Date.now),
    now: Date.now,
    shareDir: shareDir(),
    nodes: async () => ['node-a'],
    wake: () => managers.at(-1)?.wake(),
  })

async function add(name: string, program: string, more = '', type = 'process'): Promise<void> {
  const content = `name: ${name}\ntype: ${type}\ndataDirectory: /${name}\nrun:\n  command: ["node", "-e", ${JSON.stringify(program)}]\nstop: { timeoutSeconds: 1 }\n${more}`
  await insertDeployment(state.db, { name, type, content, enabled: true })
}

const stateOf = async (name: string) => (await deployments().instances(name))[0]?.state
const consoleOf = async (name: string) => {
  const [instance] = await deployments().instances(name)
  return instance ? (await runtime.history(instance.podName, 1000)).map(({ content }) => content) : []
}

test('an enabled deployment runs, and its instance is described as decisions §5 says', async () => {
  await add('bot', "console.log('here'); setInterval(() => {}, 1000)", 'description: A bot\nresources: { cpu: 500m, memory: 512Mi }\n')
  manage()
  await until(() => stateOf('bot'), (now) => now === 'RUNNING')
  const [instance] = await deployments().instances('bot')
  expect(instance).toMatchObject({ deployment: 'bot', description: 'A bot', type: 'process', ip: '127.0.0.1', connections: 0, memory: { total: 0.5 } })
  expect(instance!.name).toMatch(/^[0-9a-f]{6}-bot$/)
  expect(instance!.uid).toMatch(/^[0-9a-f-]{36}$/)
  expect(instance!.uptime).toMatch(/^\d+s$/)
  expect(instance).not.toHaveProperty('players')
  expect(await deployments().list()).toEqual([
    { name: 'bot', typeIndex: 3, enabled: true, path: '/nfsshare/bot', dataDirectory: '/bot', description: 'A bot' },
  ])
})

test('disabling ends it gracefully and takes it off the list; enabling brings the same instance back', async () => {
  await add('bot', "process.on('SIGTERM', () => { console.log('bye'); process.exit(0) }); console.log('here'); setInterval(() => {}, 1000)")
  const manager = manage()
  await until(() => consoleOf('bot'), (lines) => lines.includes('here'))
  const [before] = await deployments().instances('bot')
  await state.db.updateTable('deployments').set({ enabled: false }).execute()
  manager.wake()
  await until(() => deployments().instances('bot'), (instances) => instances.length === 0)
  await state.db.updateTable('deployments').set({ enabled: true }).execute()
  manager.wake()
  await until(() => stateOf('bot'), (now) => now === 'RUNNING')
  const [after] = await deployments().instances('bot')
  expect(after).toMatchObject({ uid: before!.uid, podName: before!.podName })
  expect(await consoleOf('bot')).toEqual(expect.arrayContaining(['here', 'bye', '[System] Stopped (with exit code 0).']))
})

test('an instance that ends by itself is started again, and says so in its console', async () => {
  await add('bot', "console.log('here'); process.exit(4)")
  manage()
  const lines = await until(() => consoleOf('bot'), (all) => all.filter((line) => line === 'here').length >= 2)
  expect(lines).toEqual(expect.arrayContaining(['[System] Ended by itself with exit code 4.', '[System] Starting again in 1 s.']))
  expect((await deployments().instances('bot'))[0]!.restarts).toBeGreaterThanOrEqual(1)
})

test('§5 between two tries it says when the next one comes, and which', async () => {
  await add('bot', "process.exit(4)")
  manage()
  const [instance] = await until(() => deployments().instances('bot'), (all) => (all[0]?.retry?.attempt ?? 0) >= 3)
  expect(instance).toMatchObject({ state: 'STOPPED', retry: { inMs: expect.any(Number), of: 5 } })
  expect(instance!.retry!.inMs).toBeLessThanOrEqual(1000 * 2 ** (instance!.retry!.attempt - 2))
})

test('§4 after readyTimeoutSeconds one that is not ready says so, once in its console, with what is waited for; then it is ready and silent', async () => {
  await add('bot', "process.stdin.on('data', () => console.log('Done (1 s)'))", "ready: 'Done \\('\nreadyTimeoutSeconds: 1\n")
  const manager = manage()
  const lateStart = { afterSeconds: 1, waitingFor: 'a console line that matches Done \\(' }
  const told = '[System] Not ready after 1 s: still waiting for a console line that matches Done \\(.'
  await until(() => consoleOf('bot'), (lines) => lines.includes(told))
  expect((await deployments().instances('bot'))[0]).toMatchObject({ state: 'STARTING', lateStart })
  await manager.close()
  // Another platform takes over, and does not repeat it.
  await reconcile({ db: state.db, runtime, players: watch, listening, discovery, shareDir: shareDir(), replicas, log, now: Date.now, excessSince: new Map(), told: new Map() })
  expect((await consoleOf('bot')).filter((line) => line === told)).toHaveLength(1)
  await runtime.write((await deployments().instances('bot'))[0]!.podName, 'go')
  await until(() => stateOf('bot'), (current) => current === 'RUNNING')
  expect((await deployments().instances('bot'))[0]!.lateStart).toBeUndefined()
})

test.each([
  ['scalable', 'Start it to try again.'],
  // §2: a process has no Start.
  ['process', 'Restart its deployment to try again.'],
])('§4 the fifth crash within five minutes blocks it, with the reason and the way on in its console: %s', async (type, remedy) => {
  await add('bot', "process.stdin.on('data', () => process.exit(4))", '', type)
  manage()
  await until(() => stateOf('bot'), (current) => current === 'RUNNING')
  const now = Date.now()
  await state.db.updateTable('instances').set({ crashes: JSON.stringify([now - 4, now - 3, now - 2, now - 1]) }).execute()
  await runtime.write((await deployments().instances('bot'))[0]!.podName, 'crash')
  await until(() => stateOf('bot'), (current) => current === 'BLOCKED')
  expect((await consoleOf('bot')).at(-1)).toBe(`[System] Blocked: Ended 5 times within 5 minutes, the last time with exit code 4. ${remedy}`)
  // No start followed.
  expect((await deployments().instances('bot'))[0]).toMatchObject({ restarts: 0, lastExit: { code: 4 }, crashedAt: expect.any(Number) })
})

test('a manager that comes later finds what runs, and starts nothing twice', async () => {
  await add('bot', "console.log('pid ' + process.pid); setInterval(() => {}, 1000)")
  const first = manage()
  await until(() => consoleOf('bot'), (lines) => lines.length > 0)
  await first.close()
  const second = manage()
  await until(() => second.isActive)
  second.wake()
  const since = await lastBeat(state.db)
  await until(() => lastBeat(state.db), (beat) => beat > since)
  expect(await runtime.list()).toHaveLength(1)
  expect((await consoleOf('bot')).filter((line) => line.startsWith('pid'))).toHaveLength(1)
})

test('decisions §4: of two platforms one is manager, and the other follows when it goes', async () => {
  const one = manage()
  await until(() => one.isActive)
  let refusals = 0
  const connect = async () => {
    const client = await state.pool.connect()
    const release = client.release.bind(client)
    // A connection that is given back is a lock that was not to be had.
    client.release = (destroy) => {
      refusals += 1
      client.release = release
      release(destroy)
    }
    return client
  }
  const two = manage({ connect } as Pool)
  await until(() => refusals > 0)
  expect(two.isActive).toBe(false)
  await one.close()
  two.wake()
  await until(() => two.isActive)
})

test('a manager whose connection breaks takes the lock again and goes on', async () => {
  const manager = manage()
  await until(() => manager.isActive)
  await state.pool.query("select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database()) and pid != pg_backend_pid()")
  await until(() => !manager.isActive)
  manager.wake()
  await until(() => manager.isActive)
})

test('a deployment that cannot be dealt with does not hold up the others', async () => {
  await insertDeployment(state.db, { name: 'a-broken', type: 'process', content: 'nonsense', enabled: true })
  await add('bot', 'setInterval(() => {}, 1000)')
  manage()
  await until(() => stateOf('bot'), (now) => now === 'RUNNING')
})

test('a manager on standby gives its connection back each time it has asked for the lock', async () => {
  const active = manage()
  await until(() => active.isActive)
  const pool = new pg.Pool({ connectionString: state.url, max: 1 })
  const standby = manage(pool)
  for (let look = 1; look <= 5; look++) {
    standby.wake()
    // The only connection: who kept it would keep this waiting.
    await pool.query('select 1')
  }
  expect(standby.isActive).toBe(false)
  await standby.close()
  expect(pool.totalCount - pool.idleCount).toBe(0)
  await pool.end()
})

test('a deployment whose stored text cannot be read keeps its instances as they are, and its problem is logged once', async () => {
  await add('bot', FOREVER)
  const first = manage()
  const [before] = await until(() => running('bot'), (all) => all.length === 1)
  await first.close()
  await state.db.updateTable('deployments').set({ content: 'name: bot\nnonsense: 1\n' }).execute()
  const logged: { deployment?: string; problem?: string }[] = []
  const warned = pino({ level: 'warn' }, { write: (line) => void logged.push(JSON.parse(line) as object) })
  const parts = { db: state.db, runtime, players: watch, listening, discovery, shareDir: shareDir(), replicas, log: warned, now: Date.now, excessSince: new Map(), told: new Map() }
  for (let pass = 1; pass <= 3; pass++) await reconcile(parts)
  expect(await running('bot')).toMatchObject([{ uid: before!.uid, startedAt: before!.startedAt, type: 'process' }])
  expect(logged).toMatchObject([{ deployment: 'bot', problem: expect.stringContaining('Line ') }])
})

const FOREVER = "console.log('pid ' + process.pid); setInterval(() => {}, 1000)"
const running = async (name: string) => (await deployments().instances(name)).filter(({ state: current }) => current === 'RUNNING')
const fill = (podName: string, players: number | undefined) => playing.set(podName, players)

test('decisions §4: a scalable deployment grows with its players, up to max, and keeps a place free', async () => {
  await add('lobby', FOREVER, 'instances: { min: 1, max: 3, playersPerInstance: 2 }\n', 'scalable')
  const manager = manage()
  const [first] = await until(() => running('lobby'), (all) => all.length === 1)
  fill(first!.podName, 1)
  await reconcile({ db: state.db, runtime, players: watch, listening, discovery, shareDir: shareDir(), replicas, log, now: Date.now, excessSince: new Map(), told: new Map() })
  expect(await deployments().instances('lobby')).toHaveLength(1)
  fill(first!.podName, 2)
  manager.wake()
  await until(() => running('lobby'), (all) => all.length === 2)
  fill(first!.podName, 90)
  manager.wake()
  const three = await until(() => running('lobby'), (all) => all.length === 3)
  expect(three.find(({ podName }) => podName === first!.podName)).toMatchObject({ type: 'minecraft', connections: 90 })
})

test('decisions §4: it shrinks after a minute of too many, and never ends an instance with players', async () => {
  await add('lobby', FOREVER, 'instances: { min: 1, max: 3, playersPerInstance: 2 }\n', 'scalable')
  const begun = Date.now()
  const parts = { db: state.db, runtime, players: watch, listening, discovery, shareDir: shareDir(), replicas, log, now: () => begun + clock.ahead, excessSince: new Map<string, number>(), told: new Map<string, string>() }
  await reconcile(parts)
  const [first] = await until(() => running('lobby'), (all) => all.length === 1)
  fill(first!.podName, 4)
  await reconcile(parts)
  const three = await until(() => running('lobby'), (all) => all.length === 3)
  const last = three.find(({ podName }) => podName !== first!.podName)!
  fill(first!.podName, 0)
  fill(last.podName, 1)
  await reconcile(parts)
  clock.ahead = 59_000
  await reconcile(parts)
  expect(await running('lobby')).toHaveLength(3)
  clock.ahead = 61_000
  await reconcile(parts)
  const left = await until(
    async () => {
      await reconcile(parts)
      return deployments().instances('lobby')
    },
    (all) => all.length === 1,
  )
  expect(left[0]!.podName).toBe(last.podName)
})

test('§14 an instance whose players are unknown is never ended by scaling, nor are the others that its players may need', async () => {
  await add('lobby', FOREVER, 'instances: { min: 1, max: 3, playersPerInstance: 2 }\n', 'scalable')
  const begun = Date.now()
  const parts = { db: state.db, runtime, players: watch, listening, discovery, shareDir: shareDir(), replicas, log, now: () => begun + clock.ahead, excessSince: new Map<string, number>(), told: new Map<string, string>() }
  await reconcile(parts)
  const [first] = await until(() => running('lobby'), (all) => all.length === 1)
  fill(first!.podName, 4)
  await reconcile(parts)
  const three = await until(() => running('lobby'), (all) => all.length === 3)
  // Its ping fails from now on. Up to two may play there, which takes two instances.
  const last = three.at(-1)!
  fill(first!.podName, 0)
  fill(last.podName, undefined)
  const settle = async () => {
    for (const minutes of [2, 4, 6]) {
      clock.ahead = minutes * 60_000
      await reconcile(parts)
      await until(() => runtime.list(), (all) => all.every((run) => run.state !== 'STOPPING'))
    }
  }
  await settle()
  expect((await running('lobby')).map(({ podName }) => podName)).toEqual([first!.podName, last.podName])
  for (const { podName } of three) fill(podName, undefined)
  await settle()
  expect(await running('lobby')).toHaveLength(2)
  expect((await running('lobby'))[0]).toMatchObject({ players: {}, connections: 0, playerCount: null })
})

test('decisions §4: a restart replaces one instance after another and resolves when all are up', async () => {
  await add('lobby', FOREVER, 'instances: { min: 2, max: 2 }\n', 'scalable')
  manage()
  const before = await until(() => running('lobby'), (all) => all.length === 2)
  const runs = new Set((await runtime.list()).map(({ runId }) => runId))
  let fewest = 2
  const unwatch = runtime.watch(() => void runtime.list().then((all) => (fewest = Math.min(fewest, all.filter(({ state: current }) => current === 'RUNNING').length))))
  await deployments().restart('lobby')
  unwatch()
  const after = await running('lobby')
  expect(after.map(({ uid }) => uid)).toEqual(before.map(({ uid }) => uid))
  expect((await runtime.list()).filter(({ runId }) => runs.has(runId))).toEqual([])
  expect(fewest).toBeGreaterThanOrEqual(1)
})

test('each instance tells the port that it was started with, whatever its definition says by now', async () => {
  const content = (port: number) => `name: lobby\ntype: scalable\ndataDirectory: /lobby\nrun: { command: ["node", "-e", ${JSON.stringify(FOREVER)}], port: ${port} }\ninstances: { min: 2, max: 2 }\nstop: { timeoutSeconds: 1 }\n`
  await insertDeployment(state.db, { name: 'lobby', type: 'scalable', content: content(25_565), enabled: true })
  manage()
  await until(() => running('lobby'), (all) => all.length === 2)
  await state.db.updateTable('deployments').set({ content: content(30_000) }).execute()
  expect((await running('lobby')).map(({ port }) => port).sort()).toEqual([25_565, 25_566])
})

describe('§14 drain', () => {
  const ECHO = "console.log('up'); process.stdin.on('data', (line) => console.log('got ' + line))"
  const drained = (timeoutSeconds: number) => `drain: { command: leave, timeoutSeconds: ${timeoutSeconds} }\n`
  const linesOf = async (podName: string) => (await runtime.history(podName, 1000)).map(({ content }) => content)
  const runOf = async (podName: string) => (await runtime.list()).find((run) => run.podName === podName)!

  test('a restart empties one instance after the other, with the command once, and ends none that has players', async () => {
    await add('lobby', ECHO, `instances: { min: 2, max: 2 }\n${drained(600)}`, 'scalable')
    const manager = manage()
    const [first, second] = (await until(() => running('lobby'), (all) => all.length === 2)).map(({ podName }) => podName) as [string, string]
    const before = [(await runOf(first)).runId, (await runOf(second)).runId]
    fill(first, 3)
    fill(second, 2)
    const restarted = deployments().restart('lobby')
    await until(() => linesOf(first), (lines) => lines.includes('got leave'))
    manager.wake()
    await until(() => deployments().instances('lobby'), (all) => all[0]?.draining === true)
    expect(await deployments().instances('lobby')).toMatchObject([{ state: 'RUNNING', canDrain: true }, { state: 'RUNNING' }])
    expect((await deployments().instances('lobby'))[1]!.draining).toBeUndefined()
    fill(first, 0)
    manager.wake()
    await until(() => linesOf(second), (lines) => lines.includes('got leave'))
    expect((await runOf(first)).runId).not.toBe(before[0])
    expect((await runOf(second)).runId).toBe(before[1])
    expect((await linesOf(first)).filter((line) => line === 'got leave')).toHaveLength(1)
    fill(second, 0)
    manager.wake()
    await restarted
    expect((await running('lobby')).map(({ draining }) => draining)).toEqual([undefined, undefined])
  })

  test('drain and stop waits for the players, at the latest until its time is up, also where they are unknown', async () => {
    await add('world', ECHO, `node: node-a\n${drained(1)}`, 'persistent')
    const manager = manage()
    const { podName } = (await until(() => running('world'), (all) => all.length === 1))[0]!
    fill(podName, undefined)
    const power = createPower({ db: state.db, runtime, wake: () => manager.wake() })
    await power.request(podName, 'drainAndStop')
    await until(() => stateOf('world'), (now) => now === 'STOPPED')
    expect(await linesOf(podName)).toEqual(expect.arrayContaining(['got leave', '[System] Draining: it ends when nobody plays any more, at the latest in 1 s.']))
    await expect(power.request(podName, 'drainAndRestart')).rejects.toMatchObject({ code: 'CONFLICT', message: 'The instance is not running.' })
  })

  test('drain and restart ends with a new run; a plain restart does not wait', async () => {
    await add('world', ECHO, `node: node-a\n${drained(600)}`, 'persistent')
    const manager = manage()
    const { podName } = (await until(() => running('world'), (all) => all.length === 1))[0]!
    const power = createPower({ db: state.db, runtime, wake: () => manager.wake() })
    const isReplaced = async (runId: string) => (await runOf(podName)).runId !== runId && (await runOf(podName)).state === 'RUNNING'
    const first = (await runOf(podName)).runId
    await power.request(podName, 'drainAndRestart')
    await until(() => isReplaced(first))
    fill(podName, 5)
    const second = (await runOf(podName)).runId
    await power.request(podName, 'drainAndRestart')
    await until(() => deployments().instances('world'), ([instance]) => instance?.draining === true)
    await power.request(podName, 'restart')
    await until(() => isReplaced(second))
    expect((await deployments().instances('world'))[0]!.draining).toBeUndefined()
  })

  test('scaling down drains the emptiest, and never ends one whose players became unknown', async () => {
    await add('lobby', ECHO, `instances: { min: 1, max: 3, playersPerInstance: 5 }\n${drained(600)}`, 'scalable')
    const begun = Date.now()
    const parts = { db: state.db, runtime, players: watch, listening, discovery, shareDir: shareDir(), replicas, log, now: () => begun + clock.ahead, excessSince: new Map<string, number>(), told: new Map<string, string>() }
    await reconcile(parts)
    const first = (await until(() => running('lobby'), (all) => all.length === 1))[0]!.podName
    fill(first, 5)
    await reconcile(parts)
    const two = await until(() => running('lobby'), (all) => all.length === 2)
    const second = two.find(({ podName }) => podName !== first)!.podName
    fill(first, 2)
    fill(second, 1)
    await reconcile(parts)
    clock.ahead = 61_000
    await reconcile(parts)
    await reconcile(parts)
    await until(() => linesOf(second), (lines) => lines.includes('got leave'))
    expect(await running('lobby')).toMatchObject([{ podName: first }, { podName: second, draining: true }])
    fill(second, undefined)
    clock.ahead = 3_600_000
    await reconcile(parts)
    expect(await running('lobby')).toHaveLength(2)
    fill(second, 0)
    await until(async () => {
      await reconcile(parts)
      return deployments().instances('lobby')
    }, (all) => all.length === 1 && all[0]!.podName === first)
  })

  test('a process has no players to wait for, and a definition without drain does not say how', async () => {
    expect(() => parseDefinition('name: a\ntype: process\ndataDirectory: /a\nrun: { command: [x] }\ndrain: {}\n')).toThrow('drain: is not for a process: it has no players')
    await add('world', ECHO, 'node: node-a\n', 'persistent')
    manage()
    const [instance] = await until(() => running('world'), (all) => all.length === 1)
    const power = createPower({ db: state.db, runtime, wake: () => undefined })
    await expect(power.request(instance!.podName, 'drainAndStop')).rejects.toMatchObject({ code: 'CONFLICT', message: expect.stringContaining('does not say how to drain it') })
  })
})

describe('§14 discovery', () => {
  test('an instance is told who it is and, by a file that is always whole, where the others are, within a second of a change', async () => {
    const SHOW = "console.log('env ' + ['DEPLOYMENT', 'INSTANCE', 'NODE', 'PEERS'].map((name) => process.env['QUARTERDECK_' + name]).join(' ')); console.log(require('node:fs').readFileSync(process.env.QUARTERDECK_PEERS, 'utf8')); setInterval(() => {}, 1000)"
    await add('lobby', FOREVER, 'drain: { timeoutSeconds: 600 }\n', 'scalable')
    const manager = manage()
    const [lobby] = await until(() => running('lobby'), (all) => all.length === 1)
    await add('proxy', SHOW, 'discover: [lobby, nothing]\n', 'proxy')
    manager.wake()
    const lines = await until(() => consoleOf('proxy'), (all) => all.length >= 2)
    const { podName } = (await deployments().instances('proxy'))[0]!
    const own = join(directory(), 'runtime/peers', podName)
    const file = join(own, 'peers.json')
    expect(lines[0]).toBe(`env proxy ${podName} ${hostname()} ${file}`)
    const peer = { podName: lobby!.podName, ip: '127.0.0.1', port: null, state: 'RUNNING', players: 0, draining: false }
    expect(JSON.parse(lines[1]!)).toEqual({ deployments: { lobby: [peer], nothing: [] } })
    expect([(await stat(own)).mode & 0o777, (await stat(file)).mode & 0o777]).toEqual([0o755, 0o644])

    let unreadable = 0
    let isReading = true
    const reading = (async () => {
      while (isReading) await readFile(file, 'utf8').then(JSON.parse).catch(() => (unreadable += 1))
    })()
    const read = async () => (JSON.parse(await readFile(file, 'utf8')) as Peers).deployments.lobby![0]
    fill(lobby!.podName, 7)
    discovery.changed()
    await until(read, (seen) => seen?.players === 7)
    const power = createPower({ db: state.db, runtime, wake: () => manager.wake() })
    await power.request(lobby!.podName, 'drainAndStop')
    await until(read, (seen) => seen?.draining === true)
    await power.request(lobby!.podName, 'kill')
    await until(read, (seen) => seen === undefined)
    isReading = false
    await reading
    expect(unreadable).toBe(0)
    expect(await readdir(own)).toEqual(['peers.json'])

    await deployments().remove('proxy')
    await expect(stat(own)).rejects.toThrow('ENOENT')
  })

  test('a platform that comes later goes on with the files of instances that run', async () => {
    await add('proxy', FOREVER, 'discover: [lobby]\n', 'proxy')
    const manager = manage()
    const [proxy] = await until(() => running('proxy'), (all) => all.length === 1)
    await manager.close()
    await discovery.close()
    discovery = createDiscovery({ db: state.db, runtime, players: () => watch, directory: join(directory(), 'runtime/peers'), log })
    await add('lobby', FOREVER, '', 'scalable')
    manage()
    const file = join(directory(), 'runtime/peers', proxy!.podName, 'peers.json')
    await until(async () => (JSON.parse(await readFile(file, 'utf8')) as Peers).deployments.lobby?.[0]?.state === 'RUNNING')
  })
})

describe('§14 a port that is taken', () => {
  const LISTEN = "require('node:net').createServer().listen(process.env.PORT, '127.0.0.1', () => console.log('listens'))"
  const addServer = async (name: string, port: number, more = '', type = 'persistent') => {
    const node = type === 'persistent' ? 'node: node-a\n' : ''
    const content = `name: ${name}\ntype: ${type}\n${node}dataDirectory: /${name}\nrun: { command: ["node", "-e", ${JSON.stringify(LISTEN)}], port: ${port} }\nstop: { timeoutSeconds: 1 }\n${more}`
    await insertDeployment(state.db, { name, type, content, enabled: true })
  }
  const blockedReason = async (name: string) => (await deployments().instances(name))[0]?.blockedReason

  test('by another program: the server is not started, the reason names it, and it starts when the port is free', async () => {
    const other = createServer()
    await new Promise<void>((resolve) => other.listen(0, resolve))
    const { port } = other.address() as AddressInfo
    await addServer('world', port)
    const manager = manage()
    const reason = await until(() => blockedReason('world'))
    expect(reason).toBe(`Port ${port} is taken by Quarterdeck itself.`)
    manager.wake()
    await expect(deployments().restart('world')).rejects.toMatchObject({ code: 'CONFLICT', message: expect.stringContaining(reason!) })
    expect(await runtime.list()).toEqual([])
    await new Promise((resolve) => other.close(resolve))
    manager.wake()
    await until(() => consoleOf('world'), (lines) => lines.includes('listens'))
    expect(await consoleOf('world')).toContain(`[System] Blocked: ${reason} It is started when the port is free.`)
    expect(await blockedReason('world')).toBeUndefined()
  })

  test('by another deployment: the reason names that; of two that start at once one waits for the other', async () => {
    const port = await freePort()
    await addServer('first', port)
    await addServer('second', port)
    const manager = manage()
    await until(() => consoleOf('first'), (lines) => lines.includes('listens'))
    const { podName } = (await deployments().instances('first'))[0]!
    expect(await until(() => blockedReason('second'))).toBe(`Port ${port} is taken by the deployment "first" (${podName}).`)
    expect((await consoleOf('second')).filter((line) => line.includes('Blocked'))).toHaveLength(1)
    await deployments().setEnabled('first', false)
    manager.wake()
    await until(() => consoleOf('second'), (lines) => lines.includes('listens'))
  })

  test('by the instance itself, which is restarted, is no reason', async () => {
    await addServer('lobby', await freePort(), 'instances: { min: 2, max: 2 }\n', 'scalable')
    manage()
    await until(() => running('lobby'), (all) => all.length === 2)
    await deployments().restart('lobby')
    await until(() => running('lobby'), (all) => all.length === 2)
  })
})

test('a restart that fails says which instance did not come up', async () => {
  await add('bot', "if (require('node:fs').existsSync('bad')) process.exit(9); console.log('up'); setInterval(() => {}, 1000)", 'ready: up\n')
  manage()
  await until(() => stateOf('bot'), (now) => now === 'RUNNING')
  await writeFile(join(shareDir(), 'bot/bad'), '')
  await state.db.updateTable('instances').set({ crashes: JSON.stringify([1, 2, 3, 4].map((ago) => Date.now() - ago)) }).execute()
  await expect(deployments().restart('bot')).rejects.toMatchObject({ code: 'CONFLICT', message: expect.stringContaining('did not come up again: Ended 5 times') })
  await expect(deployments().restart('nothing')).rejects.toMatchObject({ code: 'NOT_FOUND' })
})

test('§4 a missing jar blocks the instance and says so to the letter; the reason says where it was looked for; enabling again tries again', async () => {
  await insertDeployment(state.db, { name: 'world', type: 'persistent', content: 'name: world\ntype: persistent\nnode: node-a\ndataDirectory: /world\nrun: { jar: server.jar }\n', enabled: true })
  manage()
  await until(() => stateOf('world'), (now) => now === 'BLOCKED')
  expect(await consoleOf('world')).toEqual(['Jar file not found!'])
  expect((await deployments().instances('world'))[0]!.blockedReason).toBe('Jar file not found! It was looked for at /nfsshare/world/server.jar.')
  await deployments().setEnabled('world', false)
  await until(() => state.db.selectFrom('instances').select('blocked_reason').executeTakeFirst(), (row) => row?.blocked_reason === null)
})

test('deleting ends its instances, forgets their consoles and keeps the files', async () => {
  await add('bot', FOREVER)
  manage()
  await until(() => stateOf('bot'), (now) => now === 'RUNNING')
  await writeFile(join(shareDir(), 'bot/keep.txt'), 'kept')
  await deployments().remove('bot')
  expect(await deployments().list()).toEqual([])
  expect(await runtime.list()).toEqual([])
  expect(await readFile(join(shareDir(), 'bot/keep.txt'), 'utf8')).toBe('kept')
  await deployments().create({ name: 'bot', type: 'process' })
  expect(await deployments().list()).toMatchObject([{ name: 'bot', enabled: false }])
})

test('security 34: start, stop and delete in parallel end in one state, without an orphan', async () => {
  await add('bot', FOREVER)
  manage()
  const service = deployments()
  await Promise.allSettled([
    service.setEnabled('bot', false), service.setEnabled('bot', true), service.restart('bot'), service.setEnabled('bot', false),
    service.setEnabled('bot', true), service.remove('bot'), service.setEnabled('bot', true), service.remove('bot'),
  ])
  await until(() => service.list(), (all) => all.length === 0)
  await until(() => runtime.list(), (all) => all.length === 0)
})

test('decisions §5: a process runs in a copy that is made at start, a persistent one in the shared directory itself', async () => {
  const program = "console.log('in ' + process.cwd()); console.log(require('node:fs').readFileSync('config.txt', 'utf8')); require('node:fs').writeFileSync('written.txt', 'x'); setInterval(() => {}, 1000)"
  for (const name of ['copied', 'shared']) {
    await mkdir(join(shareDir(), name), { recursive: true })
    await writeFile(join(shareDir(), name, 'config.txt'), 'first')
  }
  await add('copied', program, 'data: copy\n')
  await add('shared', program, 'node: node-a\n', 'persistent')
  manage()
  for (const name of ['copied', 'shared']) await until(() => consoleOf(name), (lines) => lines.includes('first'))
  expect(await consoleOf('shared')).toContain(`in ${await realpath(join(shareDir(), 'shared'))}`)
  expect((await consoleOf('copied'))[0]).toMatch(/\/instances\/copied-[0-9a-f]{6}$/)
  await until(() => readFile(join(shareDir(), 'shared/written.txt'), 'utf8').catch(() => ''))
  await expect(readFile(join(shareDir(), 'copied/written.txt'))).rejects.toThrow('ENOENT')
  await writeFile(join(shareDir(), 'copied', 'config.txt'), 'second')
  await deployments().restart('copied')
  await until(() => consoleOf('copied'), (lines) => lines.includes('second'))
})

test('§13 a process keeps what it wrote over its restart', async () => {
  await add('counter', "const fs = require('fs'); fs.appendFileSync('runs', 'x'); console.log('run ' + fs.readFileSync('runs', 'utf8').length); setInterval(() => {}, 1000)")
  manage()
  await until(() => consoleOf('counter'), (lines) => lines.includes('run 1'))
  await deployments().restart('counter')
  await until(() => consoleOf('counter'), (lines) => lines.includes('run 2'))
  expect(await readFile(join(shareDir(), 'counter/runs'), 'utf8')).toBe('xx')
})

test('§12 what a definition mounts is handed to the runtime by its real path; one that is missing blocks the instance', async () => {
  await mkdir(join(shareDir(), 'maps'))
  await mkdir(join(shareDir(), 'common'))
  await symlink('maps', join(shareDir(), 'linked'))
  await symlink('/etc', join(shareDir(), 'escape'))
  const ensured = jest.spyOn(runtime, 'ensure')
  const keepRunning = 'setInterval(() => {}, 1000)'
  await add('mounting', keepRunning, 'mounts: ["/common", "/linked"]\n')
  await add('missing', keepRunning, 'mounts: ["/nothing"]\n')
  await add('escaping', keepRunning, 'mounts: ["/escape"]\n')
  manage()
  await until(() => stateOf('mounting'), (now) => now === 'RUNNING')
  const root = await realpath(shareDir())
  expect(ensured.mock.calls.find(([{ podName }]) => podName.startsWith('mounting'))?.[0].mounts).toEqual([
    { source: join(root, 'common'), target: '/nfsshare/common' },
    { source: join(root, 'maps'), target: '/nfsshare/linked' },
  ])
  const reasonOf = async (name: string) => (await deployments().instances(name))[0]?.blockedReason
  expect(await until(() => reasonOf('missing'))).toBe('The directory /nfsshare/nothing, which "mounts" names, is missing.')
  expect(await until(() => reasonOf('escaping'))).toBe('The directory /nfsshare/escape leads out of the shared area.')
  ensured.mockRestore()
})

test('the sample runs, answers, and is not made twice', async () => {
  await makeSample(state.db, shareDir())
  await makeSample(state.db, shareDir())
  manage()
  await until(() => stateOf('sample'), (now) => now === 'RUNNING')
  const { podName } = (await deployments().instances('sample'))[0]!
  for (const line of ['help', 'ahoy']) await runtime.write(podName, line)
  await until(() => consoleOf('sample'), (lines) => lines.includes('You said: ahoy'))
  expect(await consoleOf('sample')).toContain('Commands: help, time, uptime, stop. Everything else is said back.')
  expect(await readFile(join(shareDir(), 'sample/sample.js'), 'utf8')).toContain('sample deployment')
})
