import pg, { type Pool } from 'pg'
import pino from 'pino'
import { reconcile } from '../../../src/platform/deployments/reconcile/reconcile'
import { clusterDoesNotAnswer } from '../../../src/platform/runtime/contact'
import type { Runtime } from '../../../src/platform/runtime/runtime'
import { insertDeployment } from '../../../src/platform/state/deployments/deployments'
import { findLastHeartbeat } from '../../../src/platform/state/deployments/heartbeats'
import {
  insertInstance,
  setDesiredState,
  setDrain,
  setRestartRun,
} from '../../../src/platform/state/deployments/instances'
import { FOREVER, useManagedDeployments } from '../../support/platform/managedDeployments'
import { until } from '../../support/platform/until'

const managed = useManagedDeployments()
const { manage, deployments, passParts, add, stateOf, consoleOf, running } = managed

test('an enabled deployment runs, and its instance is described as decisions §5 says', async () => {
  await add(
    'bot',
    "console.log('here'); setInterval(() => {}, 1000)",
    'description: A bot\nresources: { cpu: 500m, memory: 512Mi }\n',
  )
  manage()
  await until(
    () => stateOf('bot'),
    (now) => now === 'RUNNING',
  )
  const [instance] = await deployments().instances('bot')
  expect(instance).toMatchObject({
    deployment: 'bot',
    description: 'A bot',
    type: 'process',
    ip: '127.0.0.1',
    connections: 0,
    memory: { total: 0.5 },
    dataDirectory: '/bot',
    limits: { cpu: 500, memory: 524_288 },
  })
  expect(instance!.name).toMatch(/^[0-9a-f]{6}-bot$/)
  expect(instance!.uid).toMatch(/^[0-9a-f-]{36}$/)
  expect(instance!.uptime).toMatch(/^\d+s$/)
  expect(instance!.players).toBeUndefined()
  expect(await deployments().list()).toEqual([
    { name: 'bot', typeIndex: 3, enabled: true, path: '/nfsshare/bot', dataDirectory: '/bot', description: 'A bot' },
  ])
})

test('disabling stops an instance gracefully and removes it from the list; enabling starts the same instance again', async () => {
  await add(
    'bot',
    "process.on('SIGTERM', () => { console.log('bye'); process.exit(0) }); console.log('here'); setInterval(() => {}, 1000)",
  )
  const manager = manage()
  await until(
    () => consoleOf('bot'),
    (lines) => lines.includes('here'),
  )
  const [before] = await deployments().instances('bot')
  await managed.state.db.updateTable('deployments').set({ enabled: false }).execute()
  manager.wake()
  await until(
    () => deployments().instances('bot'),
    (instances) => instances.length === 0,
  )
  await managed.state.db.updateTable('deployments').set({ enabled: true }).execute()
  manager.wake()
  await until(
    () => stateOf('bot'),
    (now) => now === 'RUNNING',
  )
  const [after] = await deployments().instances('bot')
  expect(after).toMatchObject({ uid: before!.uid, podName: before!.podName })
  expect(await consoleOf('bot')).toEqual(
    expect.arrayContaining(['here', 'bye', '[System] Stopped (with exit code 0).']),
  )
})

test('a later manager adopts running instances and starts none twice', async () => {
  await add('bot', "console.log('pid ' + process.pid); setInterval(() => {}, 1000)")
  const first = manage()
  await until(
    () => consoleOf('bot'),
    (lines) => lines.length > 0,
  )
  await first.close()
  const second = manage()
  await until(() => second.isActive)
  second.wake()
  const since = await findLastHeartbeat(managed.state.db)
  await until(
    () => findLastHeartbeat(managed.state.db),
    (beat) => beat > since,
  )
  expect(await managed.runtime.list()).toHaveLength(1)
  expect((await consoleOf('bot')).filter((line) => line.startsWith('pid'))).toHaveLength(1)
})

test('each pass counts as finished, also while others follow at once', async () => {
  let passes = 0
  let updates = 0
  const scheduleUpdate = () => {
    updates += 1
    managed.discovery.scheduleUpdate()
  }
  const manager = manage(undefined, {
    discovery: { ...managed.discovery, scheduleUpdate },
    // As when instances change in every pass.
    onPass() {
      passes += 1
      if (passes < 5) manager.wake()
      else expect(updates).toBeGreaterThanOrEqual(4)
    },
  })
  await until(() => passes >= 5)
  await manager.close()
  expect(updates).toBe(passes)
})

test('decisions §4: one of two platforms is the manager, and the other takes over when it stops', async () => {
  const one = manage()
  await until(() => one.isActive)
  let refusals = 0
  const connect = async () => {
    const client = await managed.state.pool.connect()
    const release = client.release.bind(client)
    // The manager releases its connection when it could not acquire the lock.
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

test('a manager whose connection breaks acquires the lock again and continues', async () => {
  const manager = manage()
  await until(() => manager.isActive)
  await managed.state.pool.query(
    "select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database()) and pid != pg_backend_pid()",
  )
  await until(() => !manager.isActive)
  manager.wake()
  await until(() => manager.isActive)
})

test('an invalid deployment does not block the others', async () => {
  await insertDeployment(managed.state.db, { name: 'a-broken', type: 'process', content: 'nonsense', enabled: true })
  await add('bot', 'setInterval(() => {}, 1000)')
  manage()
  await until(
    () => stateOf('bot'),
    (now) => now === 'RUNNING',
  )
})

test('a run of no instance that cannot be removed does not block the removal of others', async () => {
  const run = { runId: 'run', state: 'EXITED', ip: '', port: undefined, startedAt: 0, exit: undefined } as const
  const removed: string[] = []
  const runtime = {
    ...managed.runtime,
    list: async () => ['stuck', 'other'].map((podName) => ({ podName, ...run })),
    remove: async (podName: string) => {
      if (podName === 'stuck') throw new Error('Its directory is busy')
      removed.push(podName)
    },
  }
  await reconcile(passParts({ runtime }))
  expect(removed).toEqual(['other'])
})

test.each([
  ['cannot be removed', 'gone', 'EXITED'],
  ['has a console that cannot be written', 'running', 'EXITED'],
  ['cannot be stopped after its drain', 'running', 'RUNNING'],
] as const)('an instance that %s does not hold up the others of its deployment', async (_what, wanted, state) => {
  const fails = () => Promise.reject(new Error('The disk does not answer'))
  const started: string[] = []
  await add('lobby', FOREVER, 'instances: { min: 3, max: 3, playersPerInstance: 10 }\n', 'scalable')
  for (const [slot, name] of ['stuck', 'other', 'third'].entries()) {
    const names = { deployment: 'lobby', name, pod_name: `lobby-${name}` }
    await insertInstance(managed.state.db, { uid: `5f0c1d2e-0000-4000-8000-00000000000${slot}`, slot, ...names })
  }
  await setDesiredState(managed.state.db, '5f0c1d2e-0000-4000-8000-000000000000', wanted)
  const exit = { code: 1, signal: null, at: Date.now(), requested: false, orderly: false, failure: undefined }
  const ended = state === 'EXITED' ? exit : undefined
  const run = { runId: 'run', state, ip: '', port: undefined, startedAt: 0, exit: ended }
  if (state === 'RUNNING')
    await setDrain(managed.state.db, '5f0c1d2e-0000-4000-8000-000000000000', { run: 'run', then: 'stop' })
  const runtime: Runtime = {
    ...managed.runtime,
    list: async () => [{ podName: 'lobby-stuck', ...run }],
    remove: fails,
    note: fails,
    stop: fails,
    ensure: async ({ podName }) => void started.push(podName),
  }
  await reconcile(passParts({ runtime }))
  expect(started).toEqual(expect.arrayContaining(['lobby-other', 'lobby-third']))
  expect(started).not.toContain('lobby-stuck')
})

test('a restart does not wait for an instance that was to be removed meanwhile and cannot be', async () => {
  const [uid, names] = ['5f0c1d2e-0000-4000-8000-000000000009', { name: 'stuck', pod_name: 'lobby-stuck' }]
  await add('lobby', FOREVER, 'instances: { min: 1, max: 1, playersPerInstance: 10 }\n', 'scalable')
  await insertInstance(managed.state.db, { uid, slot: 1, deployment: 'lobby', ...names })
  await setRestartRun(managed.state.db, uid, 'run')
  await setDesiredState(managed.state.db, uid, 'gone')
  const remove = () => Promise.reject(new Error('Its directory is busy'))
  manage(undefined, { runtime: { ...managed.runtime, remove } })
  await until(async () => (await running('lobby')).length === 1)
  const [before] = await running('lobby')
  await deployments().restart('lobby', AbortSignal.timeout(10_000))
  expect((await running('lobby'))[0]?.startedAt).toBeGreaterThan(before!.startedAt!)
})

test('a standby manager releases its connection after every attempt to acquire the lock', async () => {
  const active = manage()
  await until(() => active.isActive)
  const pool = new pg.Pool({ connectionString: managed.state.url, max: 1 })
  const standby = manage(pool)
  for (let look = 1; look <= 5; look++) {
    standby.wake()
    // The pool has one connection: a manager that kept it would block this query.
    await pool.query('select 1')
  }
  expect(standby.isActive).toBe(false)
  await standby.close()
  expect(pool.totalCount - pool.idleCount).toBe(0)
  await pool.end()
})

test('a deployment whose stored text is invalid keeps its instances unchanged, and the problem is logged once', async () => {
  await add('bot', FOREVER)
  const first = manage()
  const [before] = await until(
    () => running('bot'),
    (all) => all.length === 1,
  )
  await first.close()
  await managed.state.db.updateTable('deployments').set({ content: 'name: bot\nnonsense: 1\n' }).execute()
  const logged: { deployment?: string; problem?: string }[] = []
  const warned = pino({ level: 'warn' }, { write: (line) => void logged.push(JSON.parse(line) as object) })
  const parts = passParts({ log: warned })
  for (let pass = 1; pass <= 3; pass++) await reconcile(parts)
  expect(await running('bot')).toMatchObject([{ uid: before!.uid, startedAt: before!.startedAt, type: 'process' }])
  expect(logged).toMatchObject([{ deployment: 'bot', problem: expect.stringContaining('Line ') }])
})

test('a failure of every pass is logged once, and so is its end', async () => {
  await add('bot', FOREVER)
  const { runtime } = managed
  let passes = 0
  let isSilent = true
  const logged: { msg: string }[] = []
  const log = pino({}, { write: (line) => void logged.push(JSON.parse(line) as { msg: string }) })
  const manager = manage(managed.state.pool, {
    log,
    runtime: {
      ...runtime,
      async list() {
        passes += 1
        if (isSilent) throw clusterDoesNotAnswer()
        return runtime.list()
      },
    },
  })
  for (let pass = 1; pass <= 4; pass++) {
    await until(() => passes >= pass)
    manager.wake()
  }
  isSilent = false
  manager.wake()
  const failed = 'the manager failed to check the instances; retrying'
  const recovered = 'the manager checks the instances again'
  const messages = () => logged.map(({ msg }) => msg).filter((msg) => [failed, recovered].includes(msg))
  await until(() => messages().includes(recovered))
  expect(messages()).toEqual([failed, recovered])
})

test('security 34: start, stop and delete in parallel end in one state, without an orphan', async () => {
  await add('bot', FOREVER)
  manage()
  const service = deployments()
  await Promise.allSettled([
    service.setEnabled('bot', false),
    service.setEnabled('bot', true),
    service.restart('bot'),
    service.setEnabled('bot', false),
    service.setEnabled('bot', true),
    service.remove('bot'),
    service.setEnabled('bot', true),
    service.remove('bot'),
  ])
  await until(
    () => service.list(),
    (all) => all.length === 0,
  )
  await until(
    () => managed.runtime.list(),
    (all) => all.length === 0,
  )
})
