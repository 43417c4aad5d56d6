import { mkdir, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import pino from 'pino'
import { AppError } from '../../../src/platform/errors'
import { lockOwner } from '../../../src/platform/processLock'
import { openLocalRuntime } from '../../../src/platform/runtime/local/localRuntime'
import type { LocalSpec, Runtime } from '../../../src/platform/runtime/runtime'
import { DEPTH_LIMIT } from '../../../src/platform/share/depth'
import { openFiles, type Files } from '../../../src/platform/share/files'
import { createReplicas, type Replicas } from '../../../src/platform/share/replicas/replicas'
import type { WriteBack } from '../../../src/platform/share/replicas/writeBack'
import { makeDeepTree } from '../../support/platform/deepTree'
import { stopHost } from '../../support/platform/stopHost'
import { useTemporaryDirectory } from '../../support/platform/temporaryDirectory'
import { until } from '../../support/platform/until'

const directory = useTemporaryDirectory()
afterAll(async () => {
  await runtime.close()
  await files.close()
  await replicas.close()
  await stopHost(dataDir())
})
const log = pino({ level: 'silent' })
const dataDir = () => join(directory(), 'data')
const shareDir = () => join(directory(), 'share')
let replicas: Replicas
let files: Files
let runtime: Runtime<LocalSpec>
/** Simulates a share that cannot be written for a while. */
let refuse: string | undefined
const writeBack: WriteBack = async (...given) => {
  if (refuse !== undefined) throw new AppError('UNAVAILABLE', refuse)
  return files.writeBack(...given)
}

beforeAll(async () => {
  await mkdir(shareDir(), { recursive: true })
  replicas = createReplicas(dataDir(), log)
  files = await openFiles({ dataDir: dataDir(), shareDir: shareDir(), log, now: Date.now })
  runtime = await openLocalRuntime({ dataDir: dataDir(), replicas, writeBack })
})
beforeEach(() => (refuse = undefined))

/** Reads a list, appends an entry to it at every start, and leaves a log file. */
const PROGRAM = `const fs = require('node:fs')
  fs.appendFileSync('list.txt', process.env.ENTRY + ' ')
  fs.writeFileSync('latest.log', 'x')
  console.log('list ' + fs.readFileSync('list.txt', 'utf8'))
  require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => process.exit(line === 'crash' ? 1 : 0))`

async function lobby(name: string, entry: string): Promise<LocalSpec> {
  const path = join(shareDir(), name)
  await mkdir(path, { recursive: true })
  await writeFile(join(path, 'list.txt'), 'begin ', { flag: 'wx' }).catch(() => undefined)
  return {
    podName: name,
    deployment: name,
    command: ['node', '-e', PROGRAM],
    directory: path,
    copy: true,
    keep: ['list.txt'],
    env: { ENTRY: entry },
    port: undefined,
    ready: undefined,
    stop: { command: 'stop', timeoutSeconds: 10 },
    limits: { cores: undefined, memoryBytes: undefined },
  }
}
/** Starts an instance that appends `entry` to its list. */
async function start(name: string, entry: string): Promise<void> {
  await runtime.ensure(await lobby(name, entry))
  await says(name, `list begin ${entry}`)
}
const stateOf = async (podName: string) => (await runtime.list()).find((run) => run.podName === podName)?.state
const isIn = (podName: string, state: string) =>
  until(
    () => stateOf(podName),
    (now) => now === state,
  )
const said = async (podName: string) => (await runtime.history(podName, 100)).map(({ content }) => content)
const says = (podName: string, text: string) =>
  until(
    () => said(podName),
    (lines) => lines.some((line) => line.includes(text)),
  )
const listOf = (name: string) => readFile(join(shareDir(), name, 'list.txt'), 'utf8')

test('§13 keep: only the listed files are written back at an orderly stop, before the next copy is made', async () => {
  await start('kept', 'first')
  await runtime.stop('kept')
  await isIn('kept', 'EXITED')
  expect(await listOf('kept')).toBe('begin first ')
  expect(await readdir(join(shareDir(), 'kept'))).toEqual(['list.txt'])
  expect(await said('kept')).toContain('[System] A file of "keep" was written back.')
  await runtime.ensure(await lobby('kept', 'second'))
  await says('kept', 'list begin first second')
  await runtime.stop('kept')
  await isIn('kept', 'EXITED')
  expect(await listOf('kept')).toBe('begin first second ')
})

test('security 172: a file that was replaced by one with an older time while the instance ran is not replaced by its unchanged copy', async () => {
  const restored = join(shareDir(), 'restored', 'ops.txt')
  const spec = { ...(await lobby('restored', 'first')), keep: ['*.txt'] }
  await writeFile(restored, 'as it was at the start')
  await runtime.ensure(spec)
  await says('restored', 'list begin first')
  await rm(restored)
  await writeFile(restored, 'of a backup')
  await utimes(restored, 1_700_000_000, 1_700_000_000)
  await runtime.stop('restored')
  await isIn('restored', 'EXITED')
  expect(await readFile(restored, 'utf8')).toBe('of a backup')
  expect(await listOf('restored')).toBe('begin first ')
})

test('the listed files are written back when a program ends by itself with exit code 0, as after its own stop command', async () => {
  await start('typed', 'first')
  await runtime.write('typed', 'stop')
  await isIn('typed', 'EXITED')
  expect((await runtime.list()).find(({ podName }) => podName === 'typed')?.exit).toMatchObject({
    code: 0,
    requested: false,
  })
  expect(await listOf('typed')).toBe('begin first ')
  expect(await said('typed')).toContain('[System] A file of "keep" was written back.')
})

test.each([
  ['a crash', (podName: string) => runtime.write(podName, 'crash')],
  ['a kill', (podName: string) => runtime.kill(podName)],
])('after %s nothing is written back, and the console says so', async (how, end) => {
  const name = how.replaceAll(' ', '-')
  await start(name, 'lost')
  await end(name)
  await isIn(name, 'EXITED')
  expect(await listOf(name)).toBe('begin ')
  await says(name, 'The files of "keep" were not written back: that happens only after an orderly stop.')
})

test('the next host stops instances of a killed host in order, and writes back the listed files', async () => {
  await start('left', 'first')
  process.kill(lockOwner(join(dataDir(), 'runtime', 'instances.lock'))!, 'SIGKILL')
  await until(
    () => stateOf('left').catch(() => undefined),
    (now) => now === 'EXITED',
  )
  expect(await listOf('left')).toBe('begin first ')
})

test('a failed write-back keeps the instance stopping with the reason, and the next platform completes it', async () => {
  refuse = 'The shared area does not exist.'
  await start('later', 'first')
  await runtime.stop('later')
  await says('later', 'could not be written back. The shared area does not exist.')
  expect(await stateOf('later')).toBe('STOPPING')
  // Neither a start nor a removal may touch the copy now.
  await runtime.ensure(await lobby('later', 'too soon'))
  expect(await stateOf('later')).toBe('STOPPING')
  await runtime.close()
  refuse = undefined
  runtime = await openLocalRuntime({ dataDir: dataDir(), replicas, writeBack })
  await isIn('later', 'EXITED')
  expect(await listOf('later')).toBe('begin first ')
  // Written back only once: later edits stay.
  await writeFile(join(shareDir(), 'later/list.txt'), 'edited ')
  await runtime.close()
  runtime = await openLocalRuntime({ dataDir: dataDir(), replicas, writeBack })
  expect(await stateOf('later')).toBe('EXITED')
  expect(await listOf('later')).toBe('edited ')
})

test('a kill abandons a write-back that keeps failing', async () => {
  refuse = 'The disk of the shared area is full.'
  await start('given-up', 'first')
  await runtime.stop('given-up')
  await says('given-up', 'This is retried; Kill cancels it.')
  await runtime.kill('given-up')
  await isIn('given-up', 'EXITED')
  expect(await listOf('given-up')).toBe('begin ')
  await runtime.remove('given-up')
  expect(await readdir(join(dataDir(), 'runtime/kept'))).toEqual([])
  await rm(join(shareDir(), 'given-up'), { recursive: true })
})

test('directories below the depth limit are reported at write-back and at copy, and removed with the instance', async () => {
  const copy = join(dataDir(), 'instances/deep')
  const spec = { ...(await lobby('deep', 'first')), keep: ['list.txt', 'world'] }
  await runtime.ensure(spec)
  await says('deep', 'list begin first')
  await mkdir(join(copy, 'world'))
  makeDeepTree(join(copy, 'world'), 2_100)
  await runtime.stop('deep')
  await says('deep', '[System] Some files of "keep" were not written back as they are: "world/d/d/d')
  await isIn('deep', 'EXITED')
  expect(await listOf('deep')).toBe('begin first ')
  await mkdir(join(shareDir(), 'deep/operator'))
  makeDeepTree(join(shareDir(), 'deep/operator'), DEPTH_LIMIT + 1)
  await runtime.ensure({ ...spec, env: { ENTRY: 'second' } })
  await says('deep', '[System] Not copied: "operator/d/d/d')
  await says('deep', 'list begin first second')
  makeDeepTree(copy, 2_100)
  await runtime.kill('deep')
  await isIn('deep', 'EXITED')
  await runtime.remove('deep')
  // Deleted in the background.
  await until(
    () => readdir(join(dataDir(), 'instances')),
    (names) => !names.some((name) => name === 'deep' || name.startsWith('.removed-')),
  )
})
