import { mkdirSync, writeFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import type * as Threads from 'node:worker_threads'
import type { FilesResponse } from '../../../src/contract/file'
import { createJail } from '../../../src/platform/share/jail'
import { createListing, type Listing } from '../../../src/platform/share/listing/listing'
import { countHungThreads, hungDiskMissing, mountHungDisk } from '../../support/platform/hungDisk'
import { useTemporaryDirectory } from '../../support/platform/temporaryDirectory'
import { until } from '../../support/platform/until'

const share = useTemporaryDirectory()
/** The workers that are running. */
const mockAlive = new Set<Threads.Worker>()
/** Replaces the program of new workers. */
let mockProgram: string | undefined

jest.mock('node:worker_threads', () => {
  const actual = jest.requireActual<typeof Threads>('node:worker_threads')
  return {
    ...actual,
    Worker: class extends actual.Worker {
      constructor(file: string, options: Threads.WorkerOptions) {
        // Filling a heap of the real size takes long.
        const resourceLimits = { maxOldGenerationSizeMb: options.resourceLimits!.maxOldGenerationSizeMb! / 16 }
        super(mockProgram ?? file, mockProgram === undefined ? options : { ...options, resourceLimits, eval: true })
        mockAlive.add(this)
        this.on('exit', () => mockAlive.delete(this))
      }
    },
  }
})

let listing: Listing
const endings: (() => void)[] = []
afterEach(async () => {
  mockProgram = undefined
  for (const end of endings.splice(0)) end()
  await listing.close()
  await until(() => mockAlive.size === 0)
})

function makeDirectory(name: string): string {
  mkdirSync(`${share()}/${name}`)
  writeFileSync(`${share()}/${name}/world`, '')
  return `/nfsshare/${name}`
}

function hungDirectory(name: string): string {
  endings.push(mountHungDisk(`${share()}/${name}`))
  return `/nfsshare/${name}`
}

const filesOf = (body: Buffer) => (JSON.parse(body.toString()) as FilesResponse).data.files
/** The number of entries, or the error. */
const ask = (path: string) =>
  listing.list(path, null).then(
    ({ body }) => filesOf(body).length,
    (error: unknown) => error,
  )
const NO_RESPONSE = {
  code: 'UNAVAILABLE',
  message: 'The shared area does not answer. Check its disk or its mount.',
}

test('one worker lists directories sequentially, and concurrent requests for one directory share a listing', async () => {
  listing = createListing(createJail(share()))
  const path = makeDirectory('same')
  for (let round = 0; round < 3; round += 1) expect(await ask(path)).toBe(1)
  expect(mockAlive.size).toBe(1)
  const same = Array.from({ length: 60 }, () => listing.list(path, null))
  expect(new Set((await Promise.all(same)).map(({ body }) => body)).size).toBe(1)
  const first = listing.list(path, null)
  await new Promise((resolve) => setImmediate(resolve))
  // The first listing may miss changes that these must contain.
  const later = Array.from({ length: 60 }, () => listing.list(path, null))
  expect(new Set((await Promise.all([first, ...later])).map(({ body }) => body)).size).toBe(2)
  const other = await listing.list(path, 3)
  expect((JSON.parse(other.body.toString()) as FilesResponse).data.deploymentTypeIndex).toBe(3)
  expect(mockAlive.size).toBe(1)
})

test('a listing whose worker fails is refused, and the next one works', async () => {
  listing = createListing(createJail(share()))
  const path = makeDirectory('failing')
  mockProgram = `require('node:worker_threads').parentPort.on('message', () => { throw new Error('a bug') })`
  expect(await ask(path)).toMatchObject({
    code: 'UNAVAILABLE',
    message: 'Reading the directory was interrupted. Try again.',
    cause: expect.objectContaining({ message: 'a bug' }) as Error,
  })
  mockProgram = undefined
  expect(await ask(path)).toBe(1)
  // A worker that ends while it is idle.
  for (const worker of mockAlive) await worker.terminate()
  expect(await ask(path)).toBe(1)
})

test('a worker that runs out of memory ends without ending the platform', async () => {
  listing = createListing(createJail(share()))
  const path = makeDirectory('greedy')
  mockProgram = `require('node:worker_threads').parentPort.on('message', () => { const all = []; for (;;) all.push(Array(1000).fill(all.length)) })`
  expect(await ask(path)).toMatchObject({
    code: 'UNAVAILABLE',
    message: 'Reading the directory was interrupted. Try again.',
  })
})

test('each entry of a long directory is listed once', async () => {
  listing = createListing(createJail(share()))
  const names = Array.from({ length: 5000 }, (_, index) => `file ${index} – "ü"`)
  mkdirSync(`${share()}/long`)
  for (const name of names) writeFileSync(`${share()}/long/${name}`, name)
  for (const _ of ['first', 'kept']) {
    const entries = filesOf((await listing.list('/nfsshare/long', null)).body)
    expect(entries.map(({ name }) => name).sort()).toEqual([...names].sort())
    expect(
      entries.every(
        ({ isText, size, path, name }) =>
          isText && size === Buffer.byteLength(name) && path === `/nfsshare/long/${name}`,
      ),
    ).toBe(true)
  }
})

const describeHung = hungDiskMissing === undefined ? describe : describe.skip

describeHung(`a disk that hangs${hungDiskMissing === undefined ? '' : ` (${hungDiskMissing})`}`, () => {
  const timeouts: AbortController[] = []
  beforeEach(() => {
    jest.spyOn(AbortSignal, 'timeout').mockImplementation(() => {
      const timeout = new AbortController()
      timeouts.push(timeout)
      return timeout.signal
    })
  })
  afterEach(() => jest.restoreAllMocks())
  /** Lets all running listings time out. */
  const passTime = () => timeouts.splice(0).forEach((timeout) => timeout.abort())

  test('fails its own listings only, and listings of other directories do not wait for them', async () => {
    listing = createListing(createJail(share()))
    const path = makeDirectory('beside')
    const hung = ask(hungDirectory('hung'))
    let isOver = false
    void hung.then(() => (isOver = true))
    await until(() => countHungThreads() === 1)
    for (let round = 0; round < 5; round += 1) expect(await ask(path)).toBe(1)
    expect(isOver).toBe(false)
    passTime()
    expect(await hung).toMatchObject(NO_RESPONSE)
    expect(await ask(path)).toBe(1)
  })

  test('does not reduce the time limit of listings that wait for a worker', async () => {
    listing = createListing(createJail(share()))
    const hung = ['hung-1', 'hung-2', 'hung-3'].map((name) => ask(hungDirectory(name)))
    await until(() => countHungThreads() === 3)
    const waiting = ask(makeDirectory('waiting'))
    // Gives the listing time to be queued; the test does not depend on it.
    await delay(100)
    passTime()
    expect(await Promise.all(hung)).toMatchObject([NO_RESPONSE, NO_RESPONSE, NO_RESPONSE])
    expect(await waiting).toBe(1)
  })

  test('leaves at most four threads behind, which end when the disk recovers', async () => {
    listing = createListing(createJail(share()))
    const path = makeDirectory('later')
    for (let count = 1; count <= 4; count += 1) {
      const hung = ask(hungDirectory(`left-${count}`))
      await until(() => countHungThreads() === count)
      passTime()
      expect(await hung).toMatchObject(NO_RESPONSE)
    }
    expect(mockAlive.size).toBe(4)
    expect(await ask(path)).toMatchObject(NO_RESPONSE)
    expect(mockAlive.size).toBe(4)
    for (const end of endings.splice(0)) end()
    await until(() => mockAlive.size === 0)
    expect(await ask(path)).toBe(1)
  })
})
