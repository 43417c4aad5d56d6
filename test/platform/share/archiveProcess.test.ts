import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, readlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { constants, open, readdir } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { gzipSync } from 'node:zlib'
import pino from 'pino'
import { runArchiveTask, type ArchiveLimits } from '../../../src/platform/share/archives/archiveProcess'
import { createEntryLocks } from '../../../src/platform/share/changes/entryLocks'
import { createJail, type Jail } from '../../../src/platform/share/jail'
import type { JobControl } from '../../../src/platform/share/transfers/jobs'
import { createPacker } from '../../../src/platform/share/archives/pack'
import { openTemporaries, type Temporaries } from '../../../src/platform/share/changes/temporaries'
import { createUnpacker } from '../../../src/platform/share/archives/unpack'
import { make7z } from '../../support/platform/archives'
import { childProgram } from '../../support/platform/childProgram'
import { PROGRAMS } from '../../support/programs'
import { useTemporaryDirectory } from '../../support/platform/temporaryDirectory'
import { until } from '../../support/platform/until'

const directory = useTemporaryDirectory()
const share = () => join(directory(), 'share')
const data = () => join(directory(), 'data')
const control: JobControl = { signal: new AbortController().signal, progress: () => undefined }
const LARGE = 128 * 2 ** 20
const NORMAL: ArchiveLimits = { memoryBytes: 2 ** 30, idleTimeoutMs: 60_000 }

let jail: Jail
let temporaries: Temporaries
const children: ChildProcess[] = []

beforeAll(async () => {
  mkdirSync(share())
  mkdirSync(data())
  jail = createJail(share())
  temporaries = await openTemporaries(data(), jail, createEntryLocks(), pino({ level: 'silent' }))
  writeFileSync(join(share(), 'zeros.gz'), gzipSync(Buffer.alloc(250 * 2 ** 20)))
  writeFileSync(join(share(), 'huge.bin'), '')
  truncateSync(join(share(), 'huge.bin'), 64 * 2 ** 30)
  // 7-Zip takes half a second to write this much.
  writeFileSync(join(share(), 'large.7z'), await make7z({ zeros: '0'.repeat(LARGE) }, '-mx1'))
})
afterAll(() => children.forEach((child) => child.kill('SIGKILL')))
afterEach(async () => {
  // No failed task leaves files behind.
  expect((await readdir(share())).sort()).toEqual(['huge.bin', 'large.7z', 'zeros.gz'])
  expect(await readdir(join(data(), 'temporaries'))).toEqual([])
})

describe('security 28: an extraction whose process', () => {
  const unpack = (limits: Partial<ArchiveLimits>, name = 'zeros.gz') =>
    createUnpacker(jail, temporaries, undefined, { ...NORMAL, ...limits }).unpack(`/nfsshare/${name}`, control)

  test('exceeds its memory limit fails with 413', async () => {
    await expect(unpack({ memoryBytes: 16 * 2 ** 20 })).rejects.toMatchObject({
      code: 'TOO_LARGE',
      message: 'The archive was not extracted: unpacking it takes more than 16 MiB of memory.',
    })
  })

  test('does not respond is ended with a clear message', async () => {
    await expect(unpack({ idleTimeoutMs: 50 })).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      message: 'The archive was not extracted: unpacking it did not respond for 0.05 seconds.',
    })
  })

  test.each<[keyof ArchiveLimits, number, string]>([
    ['memoryBytes', 16 * 2 ** 20, 'unpacking it takes more than 16 MiB of memory.'],
    ['idleTimeoutMs', 50, 'unpacking it did not respond for 0.05 seconds.'],
  ])('runs 7-Zip is ended the same way: %s', async (which, limit, message) => {
    await expect(unpack({ [which]: limit }, 'large.7z')).rejects.toThrow(`The archive was not extracted: ${message}`)
  })
})

test.each(['zeros.gz', 'large.7z'])(
  'security 193: an extraction of %s whose process is killed does not call the archive damaged',
  async (name) => {
    const unpacking = expect(
      createUnpacker(jail, temporaries, undefined, NORMAL).unpack(`/nfsshare/${name}`, control),
    ).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message:
        'The archive was not extracted: the process that unpacks it was killed. The machine may be short of memory.',
    })
    const [pid] = await until(
      () => readersOf(join(share(), name)).filter((reader) => reader !== process.pid),
      (pids) => pids.length > 0,
    )
    process.kill(pid!, 'SIGKILL')
    await unpacking
  },
)

describe('packing whose process', () => {
  const pack = (limits: Partial<ArchiveLimits>) =>
    createPacker(jail, temporaries, { ...NORMAL, ...limits }).pack(['/nfsshare/huge.bin'], 'huge.tar.gz', control)

  test('exceeds its memory limit fails with 413', async () => {
    await expect(pack({ memoryBytes: 16 * 2 ** 20 })).rejects.toMatchObject({
      code: 'TOO_LARGE',
      message: 'The archive was not created: packing takes more than 16 MiB of memory.',
    })
  })

  test('does not respond is ended with a clear message', async () => {
    await expect(pack({ idleTimeoutMs: 50 })).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: 'The archive was not created: packing did not respond for 0.05 seconds.',
    })
  })

  test('is killed from outside fails with a clear message', async () => {
    const packing = expect(pack({})).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: expect.stringContaining('the process that packs it was killed') as string,
    })
    const [pid] = await until(
      () => readersOf(join(share(), 'huge.bin')),
      (pids) => pids.length > 0,
    )
    process.kill(pid!, 'SIGKILL')
    await packing
  })

  test('is aborted by V8 because its heap is full also counts as exceeding its memory limit', async () => {
    const packing = expect(pack({})).rejects.toMatchObject({
      code: 'TOO_LARGE',
      message: 'The archive was not created: packing takes more than 1024 MiB of memory.',
    })
    const [pid] = await until(
      () => readersOf(join(share(), 'huge.bin')),
      (pids) => pids.length > 0,
    )
    // V8 calls abort(3).
    process.kill(pid!, 'SIGABRT')
    await packing
  })
})

describe('the output of a process', () => {
  const said = jest.fn()
  const run = (text: string, signal = control.signal) => {
    writeFileSync(join(data(), 'speaking.js'), `process.stdout.write(${JSON.stringify(text)}); process.stdin.resume()`)
    const program = relative(join(PROGRAMS, 'platform'), join(data(), 'speaking'))
    return runArchiveTask({
      program,
      task: {},
      descriptors: [],
      name: 'test',
      control: { signal, progress: said },
      limits: NORMAL,
    })
  }
  beforeEach(() => said.mockReset())

  test('is read by complete lines, and an incomplete last line is ignored', async () => {
    const abort = new AbortController()
    const running = run('{"progress":{"done":1}}\n{"progress":{"do', abort.signal)
    await until(() => said.mock.calls.length === 1)
    abort.abort()
    await expect(running).rejects.toThrow('abort')
    expect(said.mock.calls).toEqual([[{ done: 1 }]])
  })

  test('that is not JSON ends the process with an error', async () => {
    await expect(run('{"progress":{"done":1}}\nSegmentation fault\n')).rejects.toThrow(
      'The process for test sent an invalid message',
    )
    expect(said.mock.calls).toEqual([[{ done: 1 }]])
  })
})

describe('processes that pack or unpack do not outlive the platform:', () => {
  test('packing', async () => {
    const platform = await startPlatformOf("files.archive(1, '/nfsshare/huge.bin')")
    const [pid] = await until(
      () => readersOf(join(share(), 'huge.bin')),
      (pids) => pids.length > 0,
    )
    expect(pid).not.toBe(platform.pid)
    platform.kill('SIGKILL')
    await until(() => readersOf(join(share(), 'huge.bin')).length === 0)
    temporaries = await openTemporaries(data(), jail, createEntryLocks(), pino({ level: 'silent' }))
  })

  test('unpacking', async () => {
    const platform = await startPlatformOf("files.unarchive(1, '/nfsshare/zeros.gz')")
    const [pid] = await until(
      () => readersOf(join(share(), 'zeros.gz')).filter((reader) => reader !== platform.pid),
      (pids) => pids.length > 0,
    )
    platform.kill('SIGKILL')
    await until(() => !readersOf(join(share(), 'zeros.gz')).includes(pid!))
    temporaries = await openTemporaries(data(), jail, createEntryLocks(), pino({ level: 'silent' }))
  })

  test('7-Zip during a call', async () => {
    const [from, to] = await Promise.all([
      open(join(share(), 'large.7z')),
      open(data(), constants.O_RDONLY | constants.O_DIRECTORY),
    ])
    const program = [
      ...childProgram('share/archives/sevenZipMain'),
      'extract',
      'large.7z',
      JSON.stringify({ entries: 10, size: 2 * LARGE }),
    ]
    const child = spawn(process.execPath, program, { stdio: ['pipe', 'pipe', 'ignore', from.fd, to.fd], env: {} })
    children.push(child)
    const exited = once(child, 'exit')
    await once(child.stdout!, 'data')
    child.stdin!.end()
    expect(await exited).toEqual([null, 'SIGKILL'])
    await Promise.all([from, to].map((held) => held.close()))
  })
})

/** Pids of processes that have a file open. */
function readersOf(path: string): number[] {
  const isOpen = (pid: string) => {
    try {
      return readdirSync(`/proc/${pid}/fd`).some((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`) === path)
    } catch {
      return false
    }
  }
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && isOpen(name))
    .map(Number)
}

/** Starts a process that opens the shared area and runs one job. */
async function startPlatformOf(job: string): Promise<ChildProcess> {
  const program = `
    const { openFiles } = require(process.argv[1])
    const log = require(${JSON.stringify(require.resolve('pino'))})({ level: 'silent' })
    void openFiles({ dataDir: process.argv[2], shareDir: process.argv[3], log, now: Date.now }).then((files) => (${job}, console.log('begun')))
  `
  const platform = spawn(process.execPath, ['-e', program, ...childProgram('share/files'), data(), share()], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  children.push(platform)
  await once(platform.stdout, 'data')
  return platform
}
