import pino from 'pino'
import { createMetrics, sampleMetrics } from '../../../src/platform/deployments/monitoring/metrics'
import type { Runtime, Usage } from '../../../src/platform/runtime/runtime'
import { insertDeployment } from '../../../src/platform/state/deployments/deployments'
import { insertInstance } from '../../../src/platform/state/deployments/instances'
import { freshState, type FreshState } from '../../support/platform/freshState'
import { until } from '../../support/platform/until'

const POD = 'bot-3fa2c1'
let state: FreshState
let logged: string[]
let end: () => Promise<void>
/** The next response of the runtime; undefined makes it fail. */
let usage: Usage[] | undefined
let samples: number
/** What each response of the runtime waits for. */
let delayed: Promise<void> | undefined

const used = (cpuMs: number, mebibytes: number, runId = 'first'): Usage => ({
  podName: POD,
  runId,
  cpuMs,
  memoryBytes: mebibytes * 2 ** 20,
})

/** Starts sampling and waits until the first sample has been processed. */
async function begin(isActive = true): Promise<void> {
  const log = pino({ level: 'warn' }, { write: (line: string) => void logged.push(line) })
  const runtime = {
    sample: async () => {
      samples += 1
      await delayed
      if (!usage) throw new Error('no host')
      return usage
    },
  } as Pick<Runtime, 'sample'> as Runtime
  end = sampleMetrics({ db: state.db, runtime, log, isActive: () => isActive })
  if (isActive) await until(() => samples === 1)
}

/** Advances to the next sample, which gets this response. */
async function pass(next: Usage[] | undefined): Promise<void> {
  usage = next
  const before = samples
  jest.advanceTimersByTime(14_999)
  expect(samples).toBe(before)
  jest.advanceTimersByTime(1)
  await until(() => samples === before + 1)
}

const points = async (metric: 'cpu' | 'memory') =>
  (await createMetrics(state.db).of(POD, metric, () => true)).map(({ value }) => value)

beforeEach(async () => {
  // Fakes only the clock that samples; the database driver needs the real one.
  jest.useFakeTimers({
    doNotFake: [
      'setTimeout',
      'clearTimeout',
      'setImmediate',
      'clearImmediate',
      'nextTick',
      'queueMicrotask',
      'performance',
      'hrtime',
    ],
  })
  state = await freshState()
  await insertDeployment(state.db, {
    name: 'bot',
    type: 'process',
    content: 'name: bot\ntype: process\n',
    enabled: true,
  })
  await insertInstance(state.db, {
    uid: crypto.randomUUID(),
    deployment: 'bot',
    name: '3fa2c1-bot',
    pod_name: POD,
    slot: 0,
  })
  logged = []
  samples = 0
  delayed = undefined
  usage = [used(5000, 60)]
})
afterEach(async () => {
  await end()
  jest.useRealTimers()
  await state.close()
})

test('decisions §7: a CPU point (mCPU) and a memory point (KiB) are recorded every 15 s, from the usage since the last sample', async () => {
  await begin()
  await pass([used(6500, 64)])
  await until(
    () => points('cpu'),
    ({ length }) => length === 1,
  )
  await pass([used(36_500, 32)])
  await until(
    () => points('cpu'),
    ({ length }) => length === 2,
  )
  expect(await points('cpu')).toEqual([100, 2000])
  expect(await points('memory')).toEqual([64 * 1024, 32 * 1024])
})

test('a new run has no point until its second sample', async () => {
  await begin()
  await pass([used(9000, 10, 'second')])
  await pass([used(9750, 20, 'second')])
  await until(
    () => points('memory'),
    ({ length }) => length > 0,
  )
  expect(await points('cpu')).toEqual([50])
  expect(await points('memory')).toEqual([20 * 1024])
})

test('decisions §7: one hour of points is kept and returned', async () => {
  const at = (seconds: number) => new Date(Date.now() - seconds * 1000)
  await state.db
    .insertInto('metrics')
    .values([3700, 3500].map((ago) => ({ pod_name: POD, at: at(ago), cpu: ago, memory: 1 })))
    .execute()
  expect(await points('cpu')).toEqual([3500])
  await begin()
  await until(
    () => state.db.selectFrom('metrics').select('cpu').execute(),
    (rows) => rows.length === 1,
  )
  expect(await points('cpu')).toEqual([3500])
})

test('a failed sample is logged, and the next one is computed from the last successful sample', async () => {
  await begin()
  await pass(undefined)
  await until(() => logged.length === 1)
  expect(logged[0]).toContain('failed to sample metrics')
  await pass([used(8000, 10)])
  await until(
    () => points('cpu'),
    ({ length }) => length === 1,
  )
  // 3 s of CPU time in 30 s.
  expect(await points('cpu')).toEqual([100])
})

test('a sample that takes longer than 15 s is the only one meanwhile, and the next one follows it', async () => {
  let answer = () => {}
  delayed = new Promise((resolve) => (answer = resolve))
  await begin()
  jest.advanceTimersByTime(45_000)
  const meanwhile = samples
  answer()
  expect(meanwhile).toBe(1)
  await until(() => samples === 2)
  await end()
  expect(samples).toBe(2)
})

test('a platform that is not the manager takes no samples', async () => {
  await begin(false)
  jest.advanceTimersByTime(60_000)
  await end()
  expect(samples).toBe(0)
})
