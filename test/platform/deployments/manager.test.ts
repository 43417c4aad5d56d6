import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import pino from 'pino'
import { createDeployments } from '../../../src/platform/deployments/deployments'
import { startManager, type Manager } from '../../../src/platform/deployments/manager'
import { makeSample } from '../../../src/platform/deployments/sample'
import { createUsageMeter } from '../../../src/platform/deployments/usageMeter'
import { openLocalRuntime } from '../../../src/platform/runtime/local/localRuntime'
import type { Runtime } from '../../../src/platform/runtime/runtime'
import { insertDeployment } from '../../../src/platform/state/deployments'
import { lastBeat } from '../../../src/platform/state/heartbeats'
import { freshState, type FreshState } from '../../support/platform/freshState'
import { stopHost } from '../../support/platform/stopHost'
import { useTemporaryDirectory } from '../../support/platform/temporaryDirectory'
import { until } from '../../support/platform/until'

const directory = useTemporaryDirectory()
const log = pino({ level: 'silent' })
let state: FreshState
let runtime: Runtime
let managers: Manager[] = []

beforeAll(async () => {
  runtime = await openLocalRuntime(directory())
})
afterAll(async () => {
  await runtime.close()
  await stopHost(directory())
})
beforeEach(async () => {
  state = await freshState()
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
  await state.close()
})

const shareDir = () => join(directory(), 'nfsshare')

function manage(): Manager {
  const manager = startManager({ db: state.db, pool: state.pool, runtime, shareDir: shareDir(), log, now: Date.now })
  managers.push(manager)
  return manager
}

const deployments = () => createDeployments(state.db, runtime, createUsageMeter(runtime, Date.now), Date.now)

async function add(name: string, program: string, more = ''): Promise<void> {
  const content = `name: ${name}\ntype: process\ndataDirectory: /${name}\nrun:\n  command: ["node", "-e", ${JSON.stringify(program)}]\nstop: { timeoutSeconds: 1 }\n${more}`
  await insertDeployment(state.db, { name, type: 'process', content, enabled: true })
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
  const lines = await until(() => consoleOf('bot'), (all) => all.filter((line) => line === 'here').length === 2)
  expect(lines).toEqual(expect.arrayContaining(['[System] Ended by itself with exit code 4.', '[System] Starting again in 1 s.']))
})

test('§4 the fifth crash within five minutes blocks it, with the reason in its console', async () => {
  await add('bot', 'process.exit(4)')
  const now = Date.now()
  const manager = manage()
  await until(() => state.db.selectFrom('instances').select('crashes').executeTakeFirst(), (row) => row?.crashes.length === 1)
  await state.db.updateTable('instances').set({ crashes: JSON.stringify([now - 4, now - 3, now - 2, now - 1]) }).execute()
  manager.wake()
  await until(() => stateOf('bot'), (current) => current === 'BLOCKED')
  expect((await consoleOf('bot')).at(-1)).toBe('[System] Blocked: Ended 5 times within 5 minutes, the last time with exit code 4. Start it to try again.')
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
  const two = manage()
  await until(() => lastBeat(state.db), (beat) => beat > 0)
  expect(two.isActive).toBe(false)
  await one.close()
  two.wake()
  await until(() => two.isActive)
})

test('a manager whose connection breaks takes the lock again and goes on', async () => {
  const manager = manage()
  await until(() => manager.isActive)
  await state.pool.query("select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and pid != pg_backend_pid()")
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
