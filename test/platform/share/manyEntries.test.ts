import { mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { PassThrough } from 'node:stream'
import { buffer, text } from 'node:stream/consumers'
import pino from 'pino'
import { fromBuffer, type Entry } from 'yauzl'
import { removePath } from '../../../src/platform/share/changes/removal'
import { createJail, withDirectory, type OpenDirectory } from '../../../src/platform/share/jail'
import { chownTree } from '../../../src/platform/share/ownership'
import { replicate } from '../../../src/platform/share/replicas/replicate'
import { createSkippedEntries } from '../../../src/platform/share/skippedEntries'
import { measureTree } from '../../../src/platform/share/walk'
import { createDownloads, type Downloads } from '../../../src/platform/share/transfers/downloads'
import { createZipLists } from '../../../src/platform/share/transfers/zipLists'
import { openFiles } from '../../../src/platform/share/files'
import { createFollowedReach } from '../../../src/platform/share/reach'
import { heldNow } from '../../support/platform/heldMemory'
import { createTemporaryDirectory, useTemporaryDirectory } from '../../support/platform/temporaryDirectory'
import { until } from '../../support/platform/until'

const ANN = 1
const share = useTemporaryDirectory()
const inShare = <Result>(use: (directory: OpenDirectory) => Promise<Result>, ...path: string[]) =>
  withDirectory(createJail(share()).openDirectory(path), use)

describe('security 115: a directory with 30,000 long names', () => {
  beforeAll(() => {
    mkdirSync(join(share(), 'many'))
    // Links that lead out: a walk has nothing else to do with them.
    for (let at = 0; at < 30_000; at += 1) symlinkSync('/', join(share(), 'many', `${at}-`.padEnd(250, 'x')))
  })

  test.each<[string, (look: () => void, signal: AbortSignal) => Promise<unknown>]>([
    ['walked', (_look, signal) => inShare((directory) => measureTree(directory, 'many', signal))],
    [
      'given to another user',
      (look) => inShare((many) => chownTree(many, process.getuid!(), look, createSkippedEntries()), 'many'),
    ],
    ['copied', (_look, signal) => replicate(join(share(), 'many'), join(share(), 'copy'), { signal })],
    // Last, because it is gone then.
    ['removed', (_look, signal) => removePath(join(share(), 'many'), signal)],
  ])('is %s without holding its names in memory', async (_what, work) => {
    const before = heldNow()
    let held: number | undefined
    const look = () => (held = heldNow() - before)
    let entries = 0
    const throwIfAborted = () => void ((entries += 1) === 20_000 && look())
    await work(look, Object.assign(new AbortController().signal, { throwIfAborted }))
    // The names alone take 8 MB.
    expect(held).toBeLessThan(4 * 2 ** 20)
  })

  test('is removed completely', () => {
    expect(readdirSync(share())).toEqual(['copy'])
  })
})

test('security 115: a zip ends with a note when the memory for its list is used up', async () => {
  mkdirSync(join(share(), 'some/below'), { recursive: true })
  for (let at = 0; at < 100; at += 1) writeFileSync(join(share(), 'some/below', `${at}.txt`), 'x')
  const zip = await createDownloads(createJail(share()), createZipLists(20_000, 1000)).zip(ANN, ['/nfsshare/some'])
  const names: string[] = []
  const bytes = await buffer(zip)
  const note = await new Promise<string>((resolve, reject) =>
    fromBuffer(bytes, (failure, reader) => {
      if (failure) return reject(failure)
      reader.on('entry', (entry: Entry) => {
        names.push(entry.fileName)
        if (entry.fileName === 'not-included.txt')
          reader.openReadStream(entry, (error, content) => (error ? reject(error) : resolve(text(content))))
      })
    }),
  )
  expect(note).toMatch(
    /^The ZIP ends before "some\/below\/\d+\.txt", because it has too many entries\. Everything after that is missing\./,
  )
  expect(names.length).toBeGreaterThan(35)
  expect(names.length).toBeLessThan(60)
})

describe('beside zips that are not read', () => {
  beforeAll(() => {
    mkdirSync(join(share(), 'large'))
    mkdirSync(join(share(), 'small'))
    for (let at = 0; at < 100; at += 1) writeFileSync(join(share(), 'large', `${at}.txt`), 'x')
    for (let at = 0; at < 30; at += 1) writeFileSync(join(share(), 'small', `${at}.txt`), 'x')
  })

  /** @returns a zip of the small directory, while others of the large one have used up what they may */
  async function zipBeside(holders: number[], downloadsOf: () => Downloads): Promise<string> {
    const unread = await Promise.all(holders.map((userId) => downloadsOf().zip(userId, ['/nfsshare/large'])))
    // Their last entry is the note.
    for (const zip of unread) await until(() => (zip as PassThrough).writableEnded)
    try {
      return (await buffer(await downloadsOf().zip(ANN, ['/nfsshare/small']))).toString('latin1')
    } finally {
      for (const zip of unread) zip.destroy()
    }
  }
  const complete = () => Array.from({ length: 30 }, (_, at): unknown => expect.stringContaining(`small/${at}.txt`))

  test('security 214: a small zip is complete although others, which are not read, use up the memory for lists', async () => {
    const downloads = createDownloads(createJail(share()), createZipLists(20_000, 20_000))
    const bytes = await zipBeside([2, 3], () => downloads)
    for (const expected of complete()) expect(bytes).toEqual(expected)
  })

  test('security 233: a large zip is complete although those of one other user, which are not read, hold all that they may', async () => {
    const downloads = createDownloads(createJail(share()), createZipLists(40_000, 1000))
    const bytes = await zipBeside([2, 2, 2], () => downloads)
    for (const expected of complete()) expect(bytes).toEqual(expected)
  })

  test('security 233: the calls of all users, each within their rights, share the memory for lists', async () => {
    const dataDir = createTemporaryDirectory('data')
    const zipLists = createZipLists(20_000, 1000)
    const files = await openFiles({
      dataDir,
      shareDir: share(),
      log: pino({ level: 'silent' }),
      now: Date.now,
      zipLists,
    })
    const bytes = await zipBeside([2, 3], () => files.within(createFollowedReach(undefined)).downloads)
    await files.close()
    expect(bytes).toContain('not-included.txt')
  })
})

test('security 233: the lists of a user take at most half of the memory that those of others leave', () => {
  const lists = createZipLists(20_000, 0)
  /** Reserves as much as it can. @returns the bytes */
  const fill = (userId: number): number => {
    const list = lists.begin(userId)
    let bytes = 0
    while (list.reserve(100)) bytes += 100
    return bytes
  }
  expect([2, 3, ANN].map(fill)).toEqual([20_000, 10_000, 5_000])
})

test('a copy follows its source even if that has more entries than are held in memory', async () => {
  const [from, to] = [join(share(), 'from'), join(share(), 'to')]
  mkdirSync(from)
  for (let at = 0; at < 10_100; at += 1) writeFileSync(join(from, `${at}`), '')
  await replicate(from, to)
  for (const at of [0, 5_000, 10_099]) rmSync(join(from, `${at}`))
  for (const at of [1, 5_001, 10_098]) {
    rmSync(join(from, `${at}`))
    symlinkSync('/', join(from, `${at}`))
  }
  writeFileSync(join(from, 'new'), '')
  expect(await replicate(from, to)).toBe(7)
  const expected = readdirSync(from, { withFileTypes: true }).flatMap((entry) => (entry.isFile() ? entry.name : []))
  expect(readdirSync(to).sort()).toEqual(expected.sort())
})
