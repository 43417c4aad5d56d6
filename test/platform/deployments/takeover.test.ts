import type { V1Pod } from '@kubernetes/client-node'
import pg from 'pg'
import { createKeyedQueue } from '../../../src/platform/concurrency/keyedQueue'
import { fenceRuntime } from '../../../src/platform/deployments/reconcile/fenceRuntime'
import { STOP_ANNOTATION } from '../../../src/platform/runtime/kubernetes/podSpec'
import { startPodSteps, type PodStepParts } from '../../../src/platform/runtime/kubernetes/podSteps'
import type { Runtime } from '../../../src/platform/runtime/runtime'
import { tryLeasedLock } from '../../../src/platform/state/locks/leasedLock'
import { breakableProxy, type BreakableProxy } from '../../support/platform/breakableProxy'
import { FOREVER, useManagedDeployments } from '../../support/platform/managedDeployments'
import { until } from '../../support/platform/until'

const managed = useManagedDeployments()
const { manage, add, stateOf, consoleOf } = managed
let proxy: BreakableProxy
let pool: pg.Pool

/** A pool of another machine: what is between may fall silent. */
beforeEach(async () => {
  const url = new URL(managed.state.url)
  proxy = await breakableProxy({ host: url.hostname, port: Number(url.port) })
  url.port = String(proxy.port)
  pool = new pg.Pool({ connectionString: url.href, query_timeout: 4000 })
  pool.on('error', () => undefined)
  pool.on('connect', (client) => client.on('error', () => undefined))
})
afterEach(async () => {
  await proxy.close()
  await pool.end()
})

test('§15 when the machine of the manager vanishes, another takes over within 15 s and starts nothing twice', async () => {
  await add('bot', FOREVER)
  const vanishing = manage(pool)
  await until(() => vanishing.isActive)
  await until(
    () => stateOf('bot'),
    (now) => now === 'RUNNING',
  )
  const next = manage()
  const since = performance.now()
  proxy.fallSilent()
  await until(() => next.isActive)
  expect(performance.now() - since).toBeLessThan(15_000)
  expect(vanishing.isActive).toBe(false)
  await until(
    () => stateOf('bot'),
    (now) => now === 'RUNNING',
  )
  expect((await consoleOf('bot')).filter((line) => line.startsWith('pid'))).toHaveLength(1)
})

test('a holder that acts with its lock notices its loss before the server gives the lock to another', async () => {
  const lost = jest.fn()
  const lock = (await tryLeasedLock(pool, 'a lock of a test', lost))!
  expect(await lock.confirm()).toBe(true)
  expect(await tryLeasedLock(managed.state.pool, 'a lock of a test')).toBeUndefined()
  const stop = jest.fn()
  const runtime = fenceRuntime({ stop, list: async () => [] } as unknown as Runtime, async () => {
    if (!(await lock.confirm())) throw new Error('lost')
  })
  await runtime.stop('one')
  proxy.fallSilent()
  const taken = await until(() => tryLeasedLock(managed.state.pool, 'a lock of a test'))
  expect(lock.isHeld).toBe(false)
  expect(lost).toHaveBeenCalledTimes(1)
  await expect(runtime.stop('one')).rejects.toThrow('lost')
  expect(stop).toHaveBeenCalledTimes(1)
  expect(await runtime.list()).toEqual([])
  await taken!.release()
})

test('security 235: a manager that lost its lock changes nothing in the cluster, its Services included', async () => {
  const changes = ['ensure', 'stop', 'kill', 'remove', 'note', 'write', 'publish'] as const
  const change = jest.fn()
  const runtime = fenceRuntime(
    Object.fromEntries(changes.map((name) => [name, change])) as unknown as Runtime,
    async () => {
      throw new Error('lost')
    },
  )
  for (const name of changes) {
    const call = runtime[name] as () => Promise<unknown>
    await expect((async () => call())()).rejects.toThrow('lost')
  }
  expect(change).not.toHaveBeenCalled()
})

test('security 235: a manager that lost its lock takes no further steps for the instances of the cluster', async () => {
  const metadata = { name: 'lobby-1', uid: 'run-1', annotations: { [STOP_ANNOTATION]: '1' } }
  const pod: V1Pod = { metadata, status: { phase: 'Pending' } }
  let report = (_podName: string) => undefined as void
  let isConfirmed = false
  const confirmActive = jest.fn(async () => isConfirmed)
  const remove = jest.fn(async () => undefined)
  const parts = {
    runs: {
      get: () => pod,
      runOf: () => ({}),
      instances: async () => [],
      watch(listener: (podName: string) => void) {
        report = listener
        return () => undefined
      },
    },
    pods: { delete: remove },
    messages: { write: async () => undefined, forget: () => undefined },
    inTurn: createKeyedQueue(),
    // What this process knows.
    isActive: () => true,
    confirmActive,
  }
  const steps = startPodSteps(parts as unknown as PodStepParts)
  report('lobby-1')
  await until(() => confirmActive.mock.calls.length === 1)
  await new Promise((resolve) => setTimeout(resolve, 50))
  expect(remove).not.toHaveBeenCalled()
  isConfirmed = true
  report('lobby-1')
  await until(() => remove.mock.calls.length === 1)
  steps.close()
})

test('a renewed lock outlives its lease, and a released one is free at once', async () => {
  const lost = jest.fn()
  const lock = (await tryLeasedLock(pool, 'a lock of a test', lost))!
  await managed.state.pool.query('select 1 from pg_sleep(3.5)')
  await managed.state.pool.query('select 1 from pg_sleep(3.5)')
  await managed.state.pool.query('select 1 from pg_sleep(3.5)')
  expect(lock.isHeld).toBe(true)
  await lock.release()
  const next = await until(() => tryLeasedLock(managed.state.pool, 'a lock of a test'), Boolean, 2)
  await next!.release()
  expect(lost).not.toHaveBeenCalled()
})
