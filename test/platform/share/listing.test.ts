import { appendFile, chmod, link, lstat, mkdir, readdir, rename, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { FileEntry } from '../../../src/contract/file'
import { createJail } from '../../../src/platform/share/jail'
import { createListing, type Listing } from '../../../src/platform/share/listing'
import { createListingPool } from '../../../src/platform/share/listingPool'
import { useTemporaryDirectory } from '../../support/platform/temporaryDirectory'
import { until } from '../../support/platform/until'

const root = useTemporaryDirectory()
let listing: Listing
/** What the processes were asked for: all, or so many names. */
let asked: ('all' | number)[] = []

beforeAll(() => {
  const pool = createListingPool()
  listing = createListing(createJail(root()), {
    ...pool,
    async entries(...parts) {
      asked.push('all')
      return pool.entries(...parts)
    },
    async named(...parts) {
      asked.push(parts[3].length)
      return pool.named(...parts)
    },
  })
})
afterAll(() => listing.close())

async function list(directory: string): Promise<FileEntry[]> {
  const { json, count } = await listing.list(`/nfsshare/${directory}`)
  const entries = JSON.parse(`[${json.filter(({ byteLength }) => byteLength > 0).map((piece) => Buffer.from(piece).toString()).join(',')}]`) as FileEntry[]
  expect(entries).toHaveLength(count)
  return entries.sort(byName)
}

const byName = (one: { name: string }, other: { name: string }) => (one.name < other.name ? -1 : 1)

/** What the disk says, in the words of a listing. */
async function truth(directory: string): Promise<FileEntry[]> {
  const names = await readdir(join(root(), directory))
  return (await Promise.all(names.map(async (name): Promise<FileEntry> => {
    const path = join(root(), directory, name)
    const own = await lstat(path)
    const stats = own.isSymbolicLink() ? await stat(path).catch(() => own) : own
    const type = stats.isSymbolicLink() ? 'l' : stats.isDirectory() ? 'd' : '-'
    return { name, path: `/nfsshare/${directory}/${name}`, type, size: type === 'd' ? 0 : stats.size, modifyTime: Math.floor(stats.mtimeMs), isText: type === '-' }
  }))).sort(byName)
}

async function makeKept(directory: string, count: number): Promise<(name: string) => string> {
  const at = (name: string) => join(root(), directory, name)
  await mkdir(join(root(), directory))
  for (let index = 0; index < count; index += 1) await writeFile(at(`file ${index}.txt`), 'hello\n')
  // The first tells that it is large; from then on it is kept as soon as its time is not this very moment's.
  await until(async () => {
    asked = []
    await list(directory)
    return asked.length === 0
  })
  return at
}

test.each([600, 5000])('of %i entries that are kept, only those that have changed are read again, whatever happened to them', async (count) => {
  const directory = `changing-${count}`
  const at = await makeKept(directory, count)
  const awkward = ['a "quoted" {"name":"b","path"}', 'back\\slash', 'ends with {', 'Grüße 🚀', '"isText":true}', ',', '}{']
  const steps: [string, () => Promise<unknown>][] = [
    ['grows', () => appendFile(at('file 7.txt'), 'more')],
    ['is added', () => writeFile(at('new.txt'), 'new')],
    ['goes', () => rm(at('file 8.txt'))],
    ['is renamed', () => rename(at('file 9.txt'), at('renamed.txt'))],
    ['replaces another', () => rename(at('file 10.txt'), at('file 11.txt'))],
    ['comes and goes', async () => {
      await writeFile(at('short.txt'), '')
      await rm(at('short.txt'))
    }],
    ['is not ours to show', () => writeFile(at('.quarterdeck-1.part'), '')],
    ['is placed by a rename', () => rename(at('.quarterdeck-1.part'), at('placed.txt'))],
    ...awkward.map((name): [string, () => Promise<unknown>] => [name, () => writeFile(at(name), name)]),
    ...awkward.map((name): [string, () => Promise<unknown>] => [`${name} grows`, () => appendFile(at(name), name)]),
    ['one of them goes', () => rm(at(awkward[0]!))],
    ['its mode', () => chmod(at('file 1.txt'), 0o600)],
    ['a hundred at once', () => Promise.all(Array.from({ length: 50 }, (_, index) => rename(at(`file ${index + 100}.txt`), at(`moved ${index}.txt`))))],
  ]
  for (const [what, change] of steps) {
    await change()
    const expected = (await truth(directory)).filter(({ name }) => !name.startsWith('.quarterdeck-'))
    expect([what, await list(directory)]).toEqual([what, expected])
  }
  expect(asked.filter((one) => one === 'all')).toEqual([])
  expect(asked).toHaveLength(steps.length)
  expect(asked.at(-1)).toBe(100)

  // More than that is read as a whole; and so is what holds something of which the kernel does not tell everything, after a second.
  await Promise.all(Array.from({ length: 101 }, (_, index) => writeFile(at(`many ${index}`), '')))
  expect(await list(directory)).toEqual(await truth(directory))
  expect(asked.at(-1)).toBe('all')
  await mkdir(at('directory'))
  await symlink('file 1.txt', at('link'))
  await link(at('file 2.txt'), at('other name'))
  expect(await list(directory)).toEqual(await truth(directory))
})

test('entries that change while they are listed are right afterwards, and every listing is whole', async () => {
  const at = await makeKept('busy', 600)
  const listings: Promise<FileEntry[]>[] = []
  for (let round = 0; round < 100; round += 1) {
    const change = round % 3 === 0 ? rename(at(`file ${round}.txt`), at(`moved ${round}.txt`)) : round % 3 === 1 ? rm(at(`file ${round}.txt`)) : appendFile(at('file 599.txt'), 'x')
    listings.push(list('busy'))
    await change
  }
  for (const entries of await Promise.all(listings)) expect(new Set(entries.map(({ name }) => name)).size).toBe(entries.length)
  expect(await list('busy')).toEqual(await truth('busy'))
})
