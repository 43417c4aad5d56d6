import { existsSync, readdirSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pino from 'pino'
import { openLocalRuntime } from '../../../../src/platform/runtime/local/localRuntime'
import type { LocalSpec, Runtime } from '../../../../src/platform/runtime/runtime'
import { createReplicas, type Replicas } from '../../../../src/platform/share/replicas/replicas'
import { localSpec } from '../../../support/platform/instanceSpec'
import { stopHost } from '../../../support/platform/stopHost'
import { useTemporaryDirectory } from '../../../support/platform/temporaryDirectory'
import { canMount, mountTmpfs, remount, unmount } from '../../../support/platform/tmpfs'
import { until } from '../../../support/platform/until'

const directory = useTemporaryDirectory()
let replicas: Replicas
beforeAll(() => {
  replicas = createReplicas(directory(), pino({ level: 'silent' }))
})
afterAll(() => replicas.close())

const idle = (podName: string): LocalSpec =>
  localSpec({
    podName,
    deployment: 'idle',
    command: ['node', '-e', "console.log('up'); setInterval(() => {}, 1000)"],
    directory: directory(),
  })

/** Runs work with a runtime, a part of whose data directory is a disk of 1 MiB. */
async function withSmallDisk(
  dataDir: string,
  disk: string,
  work: (runtime: Runtime<LocalSpec>) => Promise<void>,
): Promise<void> {
  mountTmpfs(disk, '1m')
  const runtime = await openLocalRuntime({ dataDir, replicas })
  try {
    await work(runtime)
  } finally {
    await runtime.close()
    await stopHost(dataDir)
    unmount(disk)
  }
}

/** Fills a disk. @returns a function that makes room again */
function fill(disk: string): () => void {
  const ballast = join(disk, 'ballast')
  expect(() => writeFileSync(ballast, Buffer.alloc(2 ** 21))).toThrow('ENOSPC')
  return () => rmSync(ballast)
}

const testDisk = canMount ? test : test.skip

testDisk(
  'security 49: a full disk ends neither host nor instance, and consoles continue (skipped without mount rights)',
  async () => {
    const dataDir = join(directory(), 'full')
    const records = join(dataDir, 'runtime/instances')
    await withSmallDisk(dataDir, records, async (runtime) => {
      const program = `console.log('Ready'); require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
      if (line === 'fill') for (let i = 0; i < 30_000; i++) console.log('x'.repeat(100))
      console.log('heard ' + line) })`
      const contents = async (podName: string) => (await runtime.history(podName, 50)).map(({ content }) => content)
      const prints = (podName: string, line: string) =>
        until(
          () => contents(podName),
          (lines) => lines.includes(line),
        )
      const hears = async (line: string) => {
        await runtime.write('prints', line)
        await prints('prints', `heard ${line}`)
      }
      await runtime.ensure({ ...idle('prints'), command: ['node', '-e', program] })
      await prints('prints', 'Ready')
      await hears('fill')
      const { bavail } = statfsSync(records)
      expect(bavail).toBe(0)
      await hears('still there')
      expect(await runtime.list()).toMatchObject([{ podName: 'prints', state: 'RUNNING' }])
      // Another instance starts although its record cannot be written.
      await runtime.ensure(idle('other'))
      await prints('other', 'up')
      await runtime.kill('other')

      remount(records, 'size=20m')
      await hears('room again')
      const written = () =>
        readdirSync(records)
          .filter((name) => name.startsWith('prints.log'))
          .map((name) => readFileSync(join(records, name), 'utf8'))
      await until(() => written().some((text) => text.includes('heard room again')))
      await runtime.kill('prints')
      await until(
        () => runtime.list(),
        (all) => all.every(({ state }) => state === 'EXITED'),
      )
    })
  },
)

testDisk(
  'security 165: the record of a plain instance that was started on a full disk is stored as soon as there is room (skipped without mount rights)',
  async () => {
    const dataDir = join(directory(), 'unrecorded')
    const records = join(dataDir, 'runtime/instances')
    await withSmallDisk(dataDir, records, async (runtime) => {
      const makeRoom = fill(records)
      await runtime.ensure(idle('unrecorded'))
      const [run] = await until(
        () => runtime.list(),
        ([one]) => one?.state === 'RUNNING',
      )
      const stored = () => readFileSync(join(records, 'unrecorded.json'), 'utf8')
      expect(stored).toThrow('ENOENT')
      makeRoom()
      await until(() => existsSync(join(records, 'unrecorded.json')))
      expect(JSON.parse(stored())).toMatchObject({ runId: run?.runId, state: 'RUNNING', pid: run?.process?.pid })
    })
  },
)

testDisk(
  'security 168: a host whose own log is on a full disk serves its instances (skipped without mount rights)',
  async () => {
    const dataDir = join(directory(), 'no-log')
    const disk = join(dataDir, 'runtime')
    await withSmallDisk(dataDir, disk, async (runtime) => {
      const makeRoom = fill(disk)
      const areAll = (state: string) =>
        until(
          () => runtime.list(),
          (all) => all.length === 3 && all.every((run) => run.state === state),
        )
      // Their records cannot be stored, which the host logs.
      const names = ['unlogged-1', 'unlogged-2', 'unlogged-3']
      for (const name of names) await runtime.ensure(idle(name))
      await areAll('RUNNING')
      for (const name of names) await runtime.kill(name)
      await areAll('EXITED')
      makeRoom()
    })
  },
)
