import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { appendFile, chmod, lstat, mkdir, readdir, rename, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { FileEntry, FilesResponse } from '../../../src/contract/file'
import { createJail, withDirectory } from '../../../src/platform/share/jail'
import { readEntries, readEntry } from '../../../src/platform/share/listing/entries'
import { createKeptListings } from '../../../src/platform/share/listing/keptListings'
import { createTemporaryDirectory, useTemporaryDirectory } from '../../support/platform/temporaryDirectory'
import { until } from '../../support/platform/until'

const root = useTemporaryDirectory()
/** What each listing read from the disk: all entries, or a number of them. */
let asked: ('all' | number)[] = []
let names = 0
/** Runs after an entry was read and before the listing is returned. */
let meanwhile: (() => void) | undefined
const listings = createKeptListings({
  readEntries(directory) {
    asked.push('all')
    return readEntries(directory)
  },
  readEntry(directory, name) {
    names += 1
    const entry = readEntry(directory, name)
    meanwhile?.()
    return entry
  },
})

afterEach(() => jest.restoreAllMocks())
afterAll(() => listings.close())

async function list(directory: string, path = `/nfsshare/${directory}`, share = root()): Promise<FileEntry[]> {
  const { body } = await withDirectory(createJail(share).openDirectory(directory.split('/')), (opened) =>
    listings.list({ fd: opened.fd, root: opened.root, path, deploymentTypeIndex: null }),
  )
  if (names > 0) asked.push(names)
  names = 0
  return (JSON.parse(Buffer.from(body).toString()) as FilesResponse).data.files.sort(byName)
}

const byName = (one: { name: string }, other: { name: string }) => (one.name < other.name ? -1 : 1)
const namesIn = async (directory: string) => (await list(directory)).map(({ name }) => name)

/** The listing computed directly from the disk. */
async function truth(directory: string): Promise<FileEntry[]> {
  const names = (await readdir(join(root(), directory))).filter((name) => !name.startsWith('.quarterdeck-'))
  return (
    await Promise.all(
      names.map(async (name): Promise<FileEntry> => {
        const path = join(root(), directory, name)
        const own = await lstat(path)
        const stats = own.isSymbolicLink() ? await stat(path).catch(() => own) : own
        const type = stats.isSymbolicLink() ? 'l' : stats.isDirectory() ? 'd' : '-'
        return {
          name,
          path: `/nfsshare/${directory}/${name}`,
          type,
          size: type === 'd' ? 0 : stats.size,
          modifyTime: Math.floor(stats.mtimeMs),
          isText: type === '-',
        }
      }),
    )
  ).sort(byName)
}

/** A directory whose cached listing does not expire. */
async function makeKept(directory: string): Promise<(name: string) => string> {
  const at = (name: string) => join(root(), directory, name)
  jest.restoreAllMocks()
  await mkdir(join(root(), directory), { recursive: true })
  for (let index = 0; index < 600; index += 1) await writeFile(at(`file ${index}.txt`), 'hello\n')
  await untilKept(directory)
  // Freezes the clock, so that the cached listing does not expire on a slow machine.
  const kept = performance.now()
  jest.spyOn(performance, 'now').mockReturnValue(kept)
  return at
}

/** A listing is cached as soon as the directory's modification time lies in the past. */
async function untilKept(directory: string): Promise<void> {
  await until(async () => {
    asked = []
    await list(directory)
    return asked.length === 0
  })
}

test('a cached listing is updated by reading only changed entries, for every kind of change', async () => {
  const directory = 'changing'
  const at = await makeKept(directory)
  const awkward = [
    'a "quoted" {"name":"b","path"}',
    'back\\slash',
    'ends with {',
    'Grüße 🚀',
    '"isText":true}',
    ',',
    '}{',
    'a\u2028b',
    '7',
  ]
  const several = Array.from({ length: 20 }, (_, index) => `file ${index + 200}.txt`)
  const steps: [string, () => Promise<unknown>][] = [
    ['grows', () => appendFile(at('file 7.txt'), 'more')],
    ['is added', () => writeFile(at('new.txt'), 'new')],
    ['goes', () => rm(at('file 8.txt'))],
    ['is renamed', () => rename(at('file 9.txt'), at('renamed.txt'))],
    ['replaces another', () => rename(at('file 10.txt'), at('file 11.txt'))],
    [
      'comes and goes',
      async () => {
        await writeFile(at('short.txt'), '')
        await rm(at('short.txt'))
      },
    ],
    ['is not to be shown', () => writeFile(at('.quarterdeck-1.part'), '')],
    ['is placed by a rename', () => rename(at('.quarterdeck-1.part'), at('placed.txt'))],
    ...awkward.map((name): [string, () => Promise<unknown>] => [name, () => writeFile(at(name), name)]),
    ...awkward.map((name): [string, () => Promise<unknown>] => [`${name} grows`, () => appendFile(at(name), name)]),
    ['one of them goes', () => rm(at(awkward[0]!))],
    ['its mode', () => chmod(at('file 1.txt'), 0o600)],
    ['the directory’s own mode', () => chmod(join(root(), directory), 0o700)],
    ['several grow', () => Promise.all(several.map((name) => appendFile(at(name), 'more')))],
    ['several go', () => Promise.all(several.map((name) => rm(at(name))))],
    [
      'a hundred at once',
      () =>
        Promise.all(
          Array.from({ length: 50 }, (_, index) =>
            rename(at(`file ${index + 100}.txt`), at(`moved ${index}.txt`)).catch(() =>
              writeFile(at(`moved ${index}.txt`), ''),
            ),
          ),
        ),
    ],
  ]
  for (const [what, change] of steps) {
    await change()
    expect([what, await list(directory)]).toEqual([what, await truth(directory)])
  }
  expect(asked.filter((one) => one === 'all')).toEqual([])
  expect(asked).toHaveLength(steps.length)

  // More changes than that cause a complete read.
  await Promise.all(Array.from({ length: 101 }, (_, index) => writeFile(at(`many ${index}`), '')))
  expect(await list(directory)).toEqual(await truth(directory))
  expect(asked.at(-1)).toBe('all')
})

test('entries that change during a listing are correct afterwards, and every listing is complete', async () => {
  const at = await makeKept('busy')
  jest.restoreAllMocks()
  const untouched = Array.from({ length: 200 }, (_, index) => `file ${index + 300}.txt`)
  const listings: Promise<string[]>[] = []
  for (let round = 0; round < 100; round += 1) {
    const change =
      round % 3 === 0
        ? rename(at(`file ${round}.txt`), at(`moved ${round}.txt`))
        : round % 3 === 1
          ? rm(at(`file ${round}.txt`))
          : appendFile(at('file 599.txt'), 'x')
    listings.push(namesIn('busy'))
    await change
  }
  for (const names of await Promise.all(listings)) {
    const listed = new Set(names)
    expect(untouched.filter((name) => !listed.has(name))).toEqual([])
    expect(listed.size).toBe(names.length)
  }
  expect(await list('busy')).toEqual(await truth('busy'))

  // An entry that changes again while it is read is read again.
  await untilKept('busy')
  await appendFile(at('file 599.txt'), 'x')
  meanwhile = () => appendFileSync(at('file 599.txt'), 'x')
  await list('busy')
  meanwhile = undefined
  expect(await list('busy')).toEqual(await truth('busy'))
})

test('a directory that replaces another one never lists the entries of the old one', async () => {
  const replace = async (what: string) => {
    await rename(join(root(), what), join(root(), `${what}.old`))
    await mkdir(join(root(), 'replaced/world'), { recursive: true })
    await writeFile(join(root(), 'replaced/world/only'), '')
  }
  await makeKept('replaced/world')
  await replace('replaced/world')
  expect(await namesIn('replaced/world')).toEqual(['only'])

  await rm(join(root(), 'replaced'), { recursive: true })
  const at = await makeKept('replaced/world')
  await appendFile(at('file 7.txt'), 'more')
  await replace('replaced')
  expect(await namesIn('replaced/world')).toEqual(['only'])
  await appendFile(join(root(), 'replaced.old/world/file 8.txt'), 'more')
  expect(await namesIn('replaced/world')).toEqual(['only'])
})

test('a directory that is made again in place of a removed one lists its own entries', async () => {
  // On a disk the new directory usually gets the inode number of the removed one.
  const disk = createTemporaryDirectory('disk', '/var/tmp')
  const makeAgain = async (entry: string) => {
    await rm(join(disk, 'again'), { recursive: true, force: true })
    await mkdir(join(disk, 'again'))
    await writeFile(join(disk, 'again', entry), '')
  }
  const listAgain = async () => (await list('again', undefined, disk)).map(({ name }) => name)
  await makeAgain('old')
  jest.spyOn(performance, 'now').mockReturnValue(performance.now())
  await until(async () => {
    asked = []
    await listAgain()
    return asked.length === 0
  })
  await makeAgain('new')
  expect(await listAgain()).toEqual(['new'])
})

test('names that are not UTF-8 and decode to the same text are listed once, even when they are added and removed', async () => {
  const at = await makeKept('latin')
  const place = (byte: number) => Buffer.concat([Buffer.from(at('caf')), Buffer.of(byte)])
  for (const [change, times] of [
    [() => writeFile(place(0xe9), 'e acute'), 1],
    [() => writeFile(place(0xe8), 'e grave'), 1],
    [() => rm(place(0xe9)), 1],
    [() => rm(place(0xe8)), 0],
  ] as const) {
    jest.restoreAllMocks()
    await untilKept('latin')
    await change()
    expect((await namesIn('latin')).filter((name) => name === 'caf\ufffd')).toHaveLength(times)
  }
})

test('changes lost by an inotify overflow are detected by the modification time of the directory', async () => {
  const at = await makeKept('forgotten')
  jest.restoreAllMocks()
  await makeKept('storm')
  await list('forgotten')
  const most = Number(readFileSync('/proc/sys/fs/inotify/max_queued_events', 'utf8'))
  // Fills the kernel's event queue, so that later events are lost.
  for (let index = 0; index <= most / 2 + 1000; index += 1) {
    writeFileSync(join(root(), 'storm/x'), '')
    rmSync(join(root(), 'storm/x'))
  }
  writeFileSync(at('new.txt'), '')
  expect(await namesIn('forgotten')).toContain('new.txt')
})

test('a cached listing is re-read after half a minute, and within seconds if inotify does not cover everything', async () => {
  const at = await makeKept('old')
  asked = []
  const later = performance.now() + 30_001
  jest.spyOn(performance, 'now').mockReturnValue(later)
  await list('old')
  expect(asked).toEqual(['all'])
  jest.restoreAllMocks()

  // inotify reports no changes of a link's target.
  await makeKept('linked')
  await symlink('../old/file 1.txt', join(root(), 'linked/link'))
  expect((await list('linked')).find(({ name }) => name === 'link')?.size).toBe(6)
  expect(asked).toEqual([1])
  await appendFile(at('file 1.txt'), 'more')
  const soon = performance.now() + 1001
  jest.spyOn(performance, 'now').mockReturnValue(soon)
  expect((await list('linked')).find(({ name }) => name === 'link')?.size).toBe(10)
})

test('a small directory is cached for a second, unless it has entries whose changes inotify does not report', async () => {
  await mkdir(join(root(), 'small'))
  await writeFile(join(root(), 'small/file'), '')
  const now = performance.now()
  jest.spyOn(performance, 'now').mockReturnValue(now)
  await untilKept('small')
  await appendFile(join(root(), 'small/file'), 'more')
  expect((await list('small')).map(({ size }) => size)).toEqual([4])
  expect(asked).toEqual([1])
  jest.spyOn(performance, 'now').mockReturnValue(now + 1001)
  await list('small')
  expect(asked).toEqual([1, 'all'])
  jest.restoreAllMocks()

  // The listing that finds the directory is the last one that may be kept.
  await mkdir(join(root(), 'small/directory'))
  await list('small')
  asked = []
  for (let round = 0; round < 3; round += 1) await list('small')
  expect(asked).toEqual(['all', 'all', 'all'])
})

test('the cache is bounded: the oldest listings are evicted', async () => {
  // About 12 MiB each; the cache has room for two.
  const longPath = (name: string) => `/nfsshare/${name.repeat(20_000)}`
  await makeKept('several')
  const listSeveral = async (...names: string[]) => {
    asked = []
    for (const name of names) await list('several', longPath(name))
    return asked.length
  }
  expect(await listSeveral('a', 'b', 'c', 'c', 'b')).toBe(3)
  expect(await listSeveral('c', 'b')).toBe(0)
  expect(await listSeveral('a')).toBe(1)
})

test('security 104: a file that is swapped for a link during a listing is not opened through the link', async () => {
  const [fifo, share] = [join(root(), 'fifo'), join(root(), 'swapped')]
  await mkdir(share)
  execFileSync('mkfifo', [fifo])
  // Ends when something opens the FIFO for reading.
  const writer = spawn('sh', ['-c', 'echo opened > "$0"', fifo])
  const swapper = spawn(process.execPath, [
    '-e',
    `const { renameSync, symlinkSync, writeFileSync } = require('node:fs')
    process.chdir(process.argv[1])
    for (let round = 0; ; round++) {
      writeFileSync('next', String(round))
      renameSync('next', 'entry')
      symlinkSync('../fifo', 'next')
      renameSync('next', 'entry')
    }`,
    share,
  ])
  try {
    await until(() => existsSync(join(share, 'entry')))
    for (const begun = performance.now(); performance.now() - begun < 2000;)
      readEntry({ procPath: share, path: '/nfsshare', root: share }, 'entry')
    // The end of the child would be reported by now.
    await new Promise((resolve) => setImmediate(resolve))
    expect([writer.exitCode, writer.signalCode]).toEqual([null, null])
  } finally {
    swapper.kill('SIGKILL')
    writer.kill('SIGKILL')
    await once(swapper, 'close')
    await rm(fifo)
  }
})
