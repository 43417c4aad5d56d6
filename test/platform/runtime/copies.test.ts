import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import promises from 'node:fs/promises'
import { constants } from 'node:os'
import { basename, join } from 'node:path'
import { getSystemErrorName } from 'node:util'
import pino from 'pino'
import { withCopies } from '../../../src/platform/runtime/copies'
import type { Driver, LocalSpec, RuntimeInstance } from '../../../src/platform/runtime/runtime'
import { openFiles } from '../../../src/platform/share/files'
import { createReplicas, type Replicas } from '../../../src/platform/share/replicas/replicas'
import { useTemporaryDirectory } from '../../support/platform/temporaryDirectory'
import { until } from '../../support/platform/until'

const directory = useTemporaryDirectory()
const copies = () => join(directory(), 'instances')

/** A driver without instances. */
const driver = {
  remove: () => Promise.resolve(),
  list: () => Promise.resolve([]),
  watch: () => () => undefined,
  close: () => Promise.resolve(),
} as unknown as Driver
const open = () => withCopies(driver, { dataDir: directory(), replicas: {} as Replicas })

function makeCopy(podName: string, files: number): void {
  mkdirSync(join(copies(), podName, 'world'), { recursive: true })
  for (let index = 0; index < files; index += 1) writeFileSync(join(copies(), podName, 'world', `${index}`), '')
}

test('the copy of a removed instance is moved away at once and deleted in the background', async () => {
  makeCopy('lobby-1', 3000)
  makeCopy('lobby-2', 1)
  const runtime = open()
  await runtime.remove('lobby-1')
  expect(existsSync(join(copies(), 'lobby-1'))).toBe(false)
  expect(readdirSync(copies())).toHaveLength(2)
  // An instance without a copy.
  await runtime.remove('bot-1')
  await until(
    () => readdirSync(copies()),
    (names) => names.join() === 'lobby-2',
  )
  await runtime.close()
})

test('an interrupted deletion by an earlier platform is completed', async () => {
  makeCopy('.removed-1', 3)
  makeCopy('lobby-3', 1)
  const runtime = open()
  await until(
    () => readdirSync(copies()),
    (names) => !names.includes('.removed-1'),
  )
  expect(readdirSync(copies())).toContain('lobby-3')
  await runtime.close()
})

test('closing the runtime interrupts a deletion, and the next platform continues it', async () => {
  makeCopy('lobby-4', 5000)
  const runtime = open()
  await runtime.remove('lobby-4')
  await runtime.close()
  const [left] = readdirSync(copies()).filter((name) => name.startsWith('.removed-'))
  expect(readdirSync(join(copies(), left!, 'world'))).not.toEqual([])
  const next = open()
  await until(
    () => readdirSync(copies()),
    (names) => !names.includes(left!),
  )
  await next.close()
})

test.each([
  ['ENOSPC', 'The disk of the platform’s data directory is full.'],
  ['EDQUOT', 'The disk of the platform’s data directory is full.'],
  ['EROFS', 'The platform’s data directory is mounted read-only.'],
  ['EIO', 'The disk of the platform’s data directory does not answer (EIO).'],
  ['EACCES', 'The platform may not write to its data directory.'],
] as const)(
  'an instance whose copy cannot be written (%s) reports that it is the data directory, and is tried again',
  async (name, reason) => {
    // As Node.js names it: it has no name for EDQUOT.
    const code = getSystemErrorName(-constants.errno[name])
    const failures: [reason: string, isTemporary: boolean][] = []
    const copyTo = () => Promise.reject(Object.assign(new Error('write'), { code }))
    const failing: Driver = {
      ...driver,
      startFailed: (_spec, failure, isTemporary) => Promise.resolve(void failures.push([failure, isTemporary])),
    }
    const runtime = withCopies(failing, { dataDir: directory(), replicas: { copyTo } as unknown as Replicas })
    await expect(runtime.ensure({ podName: 'lobby-5', directory: '/x', copy: true } as LocalSpec)).rejects.toThrow()
    expect(failures).toEqual([[`Could not be started: its files could not be copied (${reason}).`, true]])
    await runtime.close()
  },
)

describe('a stop during the start of an instance in a copy', () => {
  const calls: string[] = []
  const spec = { podName: 'lobby-8', directory: '/x', copy: true } as LocalSpec
  /** @param ensure of a driver that does not know the run before it has returned */
  const openWith = (ensure: () => Promise<void>) =>
    withCopies(
      {
        ...driver,
        ensure: async () => {
          calls.push('ensure')
          await ensure()
          calls.push('started')
        },
        stop: async () => void calls.push('stop'),
        kill: async () => void calls.push('kill'),
        note: async () => undefined,
      },
      {
        dataDir: directory(),
        replicas: { copyTo: async (_from: string, to: string) => makeCopy(basename(to), 0) } as unknown as Replicas,
      },
    )
  beforeEach(() => calls.splice(0))

  test('is not lost while its copy is being looked up', async () => {
    const runtime = openWith(async () => undefined)
    const { realpath } = promises
    const lookup = jest.spyOn(promises, 'realpath').mockImplementation(async (path) => {
      await runtime.stop('lobby-8')
      return realpath(path)
    })
    await runtime.ensure(spec)
    lookup.mockRestore()
    expect(calls).toEqual(['stop'])
    await runtime.close()
  })

  test.each(['stop', 'kill'] as const)('is not lost while the driver prepares it: %s', async (end) => {
    const runtime = openWith(() => runtime[end]('lobby-8'))
    await runtime.ensure(spec)
    expect(calls).toEqual(['ensure', end, 'started', end])
    await runtime.close()
  })

  test('an end of the platform stops nothing', async () => {
    const runtime = openWith(() => runtime.close())
    await runtime.ensure(spec)
    expect(calls).toEqual(['ensure', 'started'])
  })
})

test('security 183: if the platform is killed before a copied instance starts, a file that was restored meanwhile stays', async () => {
  const share = join(directory(), 'share')
  const source = join(share, 'lobby')
  const kept = join(directory(), 'runtime/kept/lobby-7.json')
  mkdirSync(source, { recursive: true })
  writeFileSync(join(source, 'ops.json'), 'as it was')
  const log = pino({ level: 'silent' })
  const replicas = createReplicas(directory(), log)
  const files = await openFiles({ dataDir: directory(), shareDir: share, log, now: Date.now })
  const openCopies = (own: Driver) => withCopies(own, { dataDir: directory(), replicas, writeBack: files.writeBack })
  const killed = openCopies({ ...driver, ensure: () => new Promise(() => undefined), note: async () => undefined })
  void killed.ensure({ podName: 'lobby-7', directory: source, copy: true, keep: ['ops.json'] } as LocalSpec)
  await until(() => existsSync(kept))
  const probe = join(directory(), 'probe')
  // The kernel's clock for files is coarse.
  await until(() => {
    writeFileSync(probe, '')
    return statSync(probe).ctimeMs > statSync(kept).ctimeMs
  })
  rmSync(join(source, 'ops.json'))
  writeFileSync(join(source, 'ops.json'), 'of a backup')
  utimesSync(join(source, 'ops.json'), 1_700_000_000, 1_700_000_000)
  const next = openCopies({ ...driver, note: async () => undefined })
  await until(() => !existsSync(kept))
  expect(readFileSync(join(source, 'ops.json'), 'utf8')).toBe('of a backup')
  await Promise.all([next.close(), killed.close()])
  await files.close()
  await replicas.close()
})

test('the files of "keep" are written back when the end of the run is seen, although no change was reported', async () => {
  const written: string[] = []
  const run: RuntimeInstance = {
    podName: 'lobby-6',
    runId: 'a',
    state: 'RUNNING',
    ip: '',
    port: undefined,
    startedAt: 0,
    exit: undefined,
  }
  let runs: RuntimeInstance[] = []
  const silent: Driver = {
    ...driver,
    ensure: async () => void (runs = [run]),
    note: () => Promise.resolve(),
    list: () => Promise.resolve(runs),
  }
  const runtime = withCopies(silent, {
    dataDir: directory(),
    replicas: { copyTo: async (_from: string, to: string) => makeCopy(basename(to), 0) } as unknown as Replicas,
    writeBack: async ({ directory: to }) => written.push(to),
  })
  const spec = { podName: 'lobby-6', directory: '/x', copy: true, keep: ['list.txt'] } as LocalSpec
  await runtime.ensure(spec)
  const exit = { code: null, signal: null, at: 0, requested: false, orderly: true, failure: undefined }
  expect((await runtime.list())[0]?.state).toBe('RUNNING')
  runs = [{ ...run, state: 'EXITED', exit }]
  await until(
    () => runtime.list(),
    ([now]) => now?.state === 'EXITED',
    10,
  )
  expect(written).toEqual(['/x'])
  await runtime.close()
})

test('a kill when the files of "keep" have just been written back does not report that they were not', async () => {
  const lines: string[] = []
  const exit = { code: 0, signal: null, at: 0, requested: true, orderly: true, failure: undefined }
  const ended = {
    podName: 'lobby-9',
    runId: 'a',
    state: 'EXITED',
    ip: '',
    port: undefined,
    startedAt: 0,
    exit,
  } as const
  let runs: RuntimeInstance[] = []
  const runtime = withCopies(
    {
      ...driver,
      ensure: async () => void (runs = [ended]),
      list: async () => runs,
      kill: async () => undefined,
      note: async (_podName, text) => {
        lines.push(text)
        if (lines.length === 1) await runtime.kill('lobby-9')
      },
    },
    {
      dataDir: directory(),
      replicas: { copyTo: async (_from: string, to: string) => makeCopy(basename(to), 0) } as unknown as Replicas,
      writeBack: async () => 1,
    },
  )
  await runtime.ensure({ podName: 'lobby-9', directory: '/x', copy: true, keep: ['list.txt'] } as LocalSpec)
  await until(
    () => runtime.list(),
    ([run]) => run?.state === 'EXITED',
  )
  expect(lines).toEqual(['[System] A file of "keep" was written back.'])
  await runtime.close()
})
