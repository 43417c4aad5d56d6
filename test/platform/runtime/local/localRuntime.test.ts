import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import pino from 'pino'
import { lockOwner } from '../../../../src/platform/processLock'
import { openLocalRuntime } from '../../../../src/platform/runtime/local/localRuntime'
import type { InstanceSpec, Runtime } from '../../../../src/platform/runtime/runtime'
import { createReplicas, type Replicas } from '../../../../src/platform/share/replicas'
import { stopHost } from '../../../support/platform/stopHost'
import { useTemporaryDirectory } from '../../../support/platform/temporaryDirectory'
import { until } from '../../../support/platform/until'
import { runtimeSuite } from '../runtimeSuite'

const directory = useTemporaryDirectory()
const log = pino({ level: 'silent' })
let runtime: Runtime
let replicas: Replicas

beforeAll(async () => {
  replicas = createReplicas(directory(), log)
  runtime = await openLocalRuntime(directory(), replicas)
})
afterAll(async () => {
  await runtime.close()
  await replicas.close()
  await stopHost(directory())
})

runtimeSuite({ runtime: () => runtime, directory })

const ticking = (podName: string): InstanceSpec => ({
  podName,
  command: ['node', '-e', "let n = 0; console.log('pid ' + process.pid); setInterval(() => console.log('tick ' + n++), 5)"],
  directory: directory(),
  copy: false,
  env: {},
  ready: undefined,
  stop: { command: undefined, timeoutSeconds: 1 },
  limits: { cores: undefined, memoryBytes: undefined },
})
const ticks = async (podName: string) => (await runtime.history(podName, 10_000)).map(({ content }) => content).filter((line) => line.startsWith('tick'))

test('architecture: an instance runs on while nobody is connected, and no line of it is lost', async () => {
  await runtime.ensure(ticking('runs-on'))
  const before = await until(() => ticks('runs-on'), (seen) => seen.length > 5)
  await runtime.close()
  runtime = await openLocalRuntime(directory(), replicas)
  expect(await runtime.list()).toContainEqual(expect.objectContaining({ podName: 'runs-on', state: 'RUNNING' }))
  const after = await until(() => ticks('runs-on'), (seen) => seen.length > before.length + 5)
  expect(after).toEqual(after.map((_line, at) => `tick ${at}`))
  await runtime.ensure(ticking('runs-on'))
  expect((await runtime.history('runs-on', 10_000)).filter(({ content }) => content.startsWith('pid'))).toHaveLength(1)
  await runtime.kill('runs-on')
})

test('decisions §6: 10,000 lines of history are there for a platform that comes after one that was killed', async () => {
  await runtime.ensure({ ...ticking('history'), command: ['node', '-e', "for (let n = 1; n <= 12000; n++) console.log('line ' + n); setInterval(() => {}, 1000)"] })
  const end = async () => (await runtime.history('history', 1)).at(-1)?.content
  await until(end, (line) => line === 'line 12000')
  // To the host, which has the lines, a kill is a connection that is gone.
  await runtime.close()
  runtime = await openLocalRuntime(directory(), replicas)
  const lines = await runtime.history('history', 20_000)
  expect(lines.map(({ content }) => content)).toEqual(Array.from({ length: 10_000 }, (_line, at) => `line ${2001 + at}`))
  await runtime.kill('history')
})

test('a platform that stands still does not hold an instance that prints without end', async () => {
  await runtime.ensure({ ...ticking('flood'), command: ['node', '-e', "let n = 0; setInterval(() => { for (let i = 0; i < 2000; i++) console.log('x'.repeat(200)); console.log('round ' + ++n) }, 5)"] })
  // A connection of its own that follows and never reads.
  const idle = connect(join(directory(), 'runtime/host.sock'))
  await once(idle, 'connect')
  idle.write(`${JSON.stringify({ id: 1, call: 'follow', args: ['flood', 1] })}\n`)
  idle.pause()
  const round = async () => Number((await runtime.history('flood', 3000)).map(({ content }) => /^round (\d+)$/.exec(content)?.[1]).findLast(Boolean) ?? 0)
  const first = await until(round)
  await until(round, (now) => now > first + 50)
  idle.destroy()
  await runtime.kill('flood')
})

test('a host that is killed takes its instances along; the next call starts another, which has their consoles', async () => {
  await runtime.ensure(ticking('lost'))
  await until(() => ticks('lost'), (seen) => seen.length > 3)
  const first = (await runtime.history('lost', 1))[0]!.seq
  const pid = Number((await runtime.history('lost', 10_000))[0]!.content.slice(4))
  process.kill(lockOwner(join(directory(), 'runtime', 'instances.lock'))!, 'SIGKILL')
  const run = await until(
    async () => (await runtime.list().catch(() => [])).find(({ podName }) => podName === 'lost'),
    (found) => found !== undefined,
  )
  expect(run).toMatchObject({ state: 'EXITED', exit: { requested: false, failure: 'Ended because the process that hosts the instances ended.' } })
  await until(() => isGone(pid))
  const history = await runtime.history('lost', 10_000)
  expect(history.length).toBeGreaterThan(first)
  expect(history.map(({ seq }) => seq)).toEqual(history.map((_line, at) => at + 1))
})

/** Gone, or dead and not yet collected by its parent. */
function isGone(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.startsWith('Z')
  } catch {
    return true
  }
}
