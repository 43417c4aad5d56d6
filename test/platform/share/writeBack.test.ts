import {
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  truncate,
  utimes,
  writeFile,
} from 'node:fs/promises'
import { dirname, join } from 'node:path'
import pino from 'pino'
import { openFiles, type Files } from '../../../src/platform/share/files'
import { createSkippedEntries } from '../../../src/platform/share/skippedEntries'
import { matchesWildcard } from '../../../src/platform/share/replicas/wildcard'
import { canMount, mountTmpfs, unmount } from '../../support/platform/tmpfs'
import { useTemporaryDirectory } from '../../support/platform/temporaryDirectory'
import { until } from '../../support/platform/until'

const directory = useTemporaryDirectory()
const share = () => join(directory(), 'share')
const copy = () => join(directory(), 'copy')
const lobby = () => join(share(), 'lobby')
let files: Files

beforeEach(async () => {
  for (const path of [share(), copy()]) await rm(path, { recursive: true, force: true })
  await mkdir(lobby(), { recursive: true })
  await mkdir(copy())
  files = await openFiles({
    dataDir: join(directory(), 'data'),
    shareDir: share(),
    log: pino({ level: 'silent' }),
    now: Date.now,
  })
})
afterEach(() => files.close())

async function put(root: string, tree: Record<string, string>): Promise<void> {
  for (const [path, text] of Object.entries(tree)) {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await writeFile(join(root, path), text)
  }
}
const writeBack = (...paths: string[]) =>
  files.writeBack({ copy: copy(), directory: lobby(), paths }, new AbortController().signal)
const filesIn = async (root: string) =>
  (await readdir(root, { recursive: true, withFileTypes: true }))
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
    .toSorted()

test('§13 keep: while the directory is missing, the reason names it, and not the files', async () => {
  await put(copy(), { 'whitelist.json': 'new' })
  await rm(lobby(), { recursive: true })
  await expect(writeBack('whitelist.json')).rejects.toMatchObject({
    code: 'NOT_FOUND',
    message: 'The directory /nfsshare/lobby no longer exists.',
  })
})

test('§13 keep: a file and what lies below directories matched by * are written back, other files are not', async () => {
  await put(copy(), {
    'whitelist.json': 'new',
    'ops.json': 'new',
    'plugins/a/data/1.yml': 'one',
    'plugins/b/data/deep/2.yml': 'two',
    'plugins/b/cache/3': 'three',
    'plugins/c.jar': 'jar',
  })
  await put(lobby(), { 'plugins/b/cache/3': 'as it was' })
  expect(await writeBack('plugins/*/data', 'whitelist.json', 'absent/*.txt')).toBe(3)
  expect(await filesIn(lobby())).toEqual([
    'plugins/a/data/1.yml',
    'plugins/b/cache/3',
    'plugins/b/data/deep/2.yml',
    'whitelist.json',
  ])
  expect(await readFile(join(lobby(), 'whitelist.json'), 'utf8')).toBe('new')
  expect(await readFile(join(lobby(), 'plugins/b/cache/3'), 'utf8')).toBe('as it was')
})

test('unchanged files are not written again, times and modes are kept, and nothing is deleted', async () => {
  await put(copy(), { 'players/one.dat': 'one', 'players/two.dat': 'two' })
  await put(lobby(), { 'players/other.dat': 'of another instance' })
  await utimes(join(copy(), 'players/one.dat'), 1_700_000_000, 1_700_000_000.5)
  expect(await writeBack('players')).toBe(2)
  const { mtimeMs } = await stat(join(lobby(), 'players/one.dat'))
  expect(Math.round(mtimeMs)).toBe(1_700_000_000_500)
  expect(await filesIn(lobby())).toEqual(['players/one.dat', 'players/other.dat', 'players/two.dat'])
  expect(await writeBack('players')).toBe(0)
})

test('security: links are followed neither in the copy nor in the directory, and no temporary file is left', async () => {
  const outside = join(directory(), 'outside')
  await put(outside, { secret: 'of the platform', 'data/x': 'outside' })
  await put(copy(), { 'real/file': 'mine', 'places/file': 'mine' })
  await symlink(join(outside, 'secret'), join(copy(), 'real/leak'))
  await symlink(outside, join(copy(), 'linked'))
  await symlink(outside, join(lobby(), 'places'))
  expect(await writeBack('real', 'linked', 'linked/*', '*/secret', 'places')).toBe(2)
  expect(await filesIn(lobby())).toEqual(['places', 'places (copy)/file', 'real/file'])
  expect(await filesIn(outside)).toEqual(['data/x', 'secret'])
})

test('a newer file in the directory, written by another instance or an operator, is kept', async () => {
  await put(copy(), { 'whitelist.json': 'as it was at the start', 'ops.json': 'written by the instance' })
  await put(lobby(), { 'whitelist.json': 'edited meanwhile', 'ops.json': 'old' })
  await utimes(join(copy(), 'whitelist.json'), 1_700_000_000, 1_700_000_000)
  await utimes(join(lobby(), 'ops.json'), 1_700_000_000, 1_700_000_000)
  expect(await writeBack('*.json')).toBe(1)
  expect(await readFile(join(lobby(), 'whitelist.json'), 'utf8')).toBe('edited meanwhile')
  expect(await readFile(join(lobby(), 'ops.json'), 'utf8')).toBe('written by the instance')
})

describe('security 167: a file whose time lies in the future, as after extracting an archive of another time zone,', () => {
  const tomorrow = Date.now() / 1000 + 86_400
  /** What is written from now on is newer than this file, whatever the precision of the file system's clock. */
  const isPast = async (path: string) => {
    const { ctimeMs } = await stat(path)
    await until(() => Date.now() > ctimeMs + 20)
  }

  test('is replaced by what an instance wrote later', async () => {
    await put(lobby(), { 'ops.json': 'extracted', 'list.json': 'extracted' })
    await put(copy(), { 'list.json': 'unchanged in the copy' })
    for (const path of [join(lobby(), 'ops.json'), join(lobby(), 'list.json'), join(copy(), 'list.json')])
      await utimes(path, tomorrow, tomorrow)
    await isPast(join(copy(), 'list.json'))
    await put(copy(), { 'ops.json': 'written by the instance' })
    expect(await writeBack('*.json')).toBe(1)
    expect(await readFile(join(lobby(), 'ops.json'), 'utf8')).toBe('written by the instance')
    expect(await readFile(join(lobby(), 'list.json'), 'utf8')).toBe('extracted')
  })

  test('does not replace, as an unchanged copy, what another instance wrote back', async () => {
    await put(copy(), { 'ops.json': 'extracted' })
    await utimes(join(copy(), 'ops.json'), tomorrow, tomorrow)
    await isPast(join(copy(), 'ops.json'))
    await put(lobby(), { 'ops.json': 'of another instance' })
    expect(await writeBack('*.json')).toBe(0)
    expect(await readFile(join(lobby(), 'ops.json'), 'utf8')).toBe('of another instance')
  })
})

test('security 167: after the clock was set back, a file that was written before does not keep newer ones from being written back', async () => {
  const yesterday = Date.now() - 86_400_000
  await put(lobby(), { 'ops.json': 'written before the clock was set back' })
  await put(copy(), { 'ops.json': 'written afterwards' })
  await utimes(join(copy(), 'ops.json'), yesterday / 1000, yesterday / 1000)
  const clock = jest.spyOn(Date, 'now').mockReturnValue(yesterday + 1000)
  try {
    expect(await writeBack('*.json')).toBe(1)
  } finally {
    clock.mockRestore()
  }
  expect(await readFile(join(lobby(), 'ops.json'), 'utf8')).toBe('written afterwards')
})

describe('security 169: since its copy was made,', () => {
  const longAgo = 1_700_000_000
  /** Writes files with a time long ago, as those of an archive, of a backup, or that a program downloads. */
  const putOld = async (root: string, tree: Record<string, string>) => {
    await put(root, tree)
    for (const path of Object.keys(tree)) await utimes(join(root, path), longAgo, longAgo)
  }
  /** Makes the copy of a directory with this file. @returns when it was complete */
  const copyOf = async (text: string) => {
    await put(lobby(), { 'ops.json': text })
    const { atime, mtime } = await stat(join(lobby(), 'ops.json'))
    await put(copy(), { 'ops.json': text })
    await utimes(join(copy(), 'ops.json'), atime, mtime)
    const { ctimeMs } = await stat(join(copy(), 'ops.json'))
    await until(() => Date.now() > ctimeMs + 20)
    return ctimeMs
  }
  const writeBackSince = (copiedAt: number) =>
    files.writeBack({ copy: copy(), directory: lobby(), paths: ['*.json'], copiedAt }, new AbortController().signal)
  const stored = () => readFile(join(lobby(), 'ops.json'), 'utf8')

  test('a file that was replaced in the directory by one with an older time is not replaced by the unchanged copy', async () => {
    const copiedAt = await copyOf('as it was at the start')
    await rm(join(lobby(), 'ops.json'))
    await putOld(lobby(), { 'ops.json': 'restored from a backup' })
    expect(await writeBackSince(copiedAt)).toBe(0)
    expect(await stored()).toBe('restored from a backup')
  })

  test('a file to which an instance gave an older time replaces the one that was copied', async () => {
    const copiedAt = await copyOf('as it was at the start')
    await putOld(copy(), { 'ops.json': 'downloaded with its time' })
    expect(await writeBackSince(copiedAt)).toBe(1)
    expect(await stored()).toBe('downloaded with its time')
    expect(await writeBackSince(copiedAt)).toBe(0)
  })

  test('a directory that an instance renamed is written back, although the files in it have not changed', async () => {
    await putOld(copy(), { 'next.json/1': 'one' })
    const { ctimeMs } = await stat(join(copy(), 'next.json/1'))
    await until(() => Date.now() > ctimeMs + 20)
    await rename(join(copy(), 'next.json'), join(copy(), 'world.json'))
    expect(await writeBackSince(ctimeMs)).toBe(1)
    expect(await filesIn(lobby())).toEqual(['world.json/1'])
  })

  test('of a file that was changed in both, the newer one stays', async () => {
    const copiedAt = await copyOf('as it was at the start')
    await putOld(copy(), { 'ops.json': 'downloaded with its time' })
    await put(lobby(), { 'ops.json': 'edited meanwhile' })
    expect(await writeBackSince(copiedAt)).toBe(0)
    expect(await stored()).toBe('edited meanwhile')
  })
})

test('security: a directory that another instance replaced by a link is not written to', async () => {
  const victim = join(share(), 'victim')
  await put(victim, { 'config.yml': 'of the victim' })
  await put(copy(), { 'config.yml': 'mine' })
  await rm(lobby(), { recursive: true })
  await symlink(victim, lobby())
  await expect(writeBack('config.yml')).rejects.toMatchObject({ code: 'CONFLICT' })
  expect(await readFile(join(victim, 'config.yml'), 'utf8')).toBe('of the victim')
})

test('a link of the copy in place of what is kept is reported, because nothing is written back through it', async () => {
  await put(copy(), { 'data/file': 'mine', 'plugins/file': 'mine' })
  await symlink('data', join(copy(), 'world'))
  await symlink('file', join(copy(), 'plugins/link'))
  const skipped = createSkippedEntries()
  const task = { copy: copy(), directory: lobby(), paths: ['world/region', 'plugins', '*o*'] }
  expect(await files.writeBack(task, new AbortController().signal, skipped)).toBe(1)
  expect(skipped.summary()).toBe('"world" is a link, through which nothing is written back.')
})

test('a sparse file is written back as a sparse file', async () => {
  const size = 200 * 2 ** 20 + 77
  const file = await open(join(copy(), 'sparse.dat'), 'w')
  for (const at of [0, 4096 * 1000 - 2, 100 * 2 ** 20 + 5, size - 4]) await file.write(Buffer.from('data'), 0, 4, at)
  await file.close()
  expect(await writeBack('sparse.dat')).toBe(1)
  const { size: written, blocks } = await stat(join(lobby(), 'sparse.dat'))
  expect(written).toBe(size)
  expect(blocks * 512).toBeLessThan(2 ** 20)
  expect((await readFile(join(lobby(), 'sparse.dat'))).equals(await readFile(join(copy(), 'sparse.dat')))).toBe(true)
})

test('files with too many holes are skipped and reported, and the others are written back', async () => {
  await put(copy(), { 'world/a.dat': 'a', 'world/huge.dat': '', 'world/z.dat': 'z' })
  await truncate(join(copy(), 'world/huge.dat'), 2 ** 43)
  const skipped = createSkippedEntries()
  expect(
    await files.writeBack(
      { copy: copy(), directory: lobby(), paths: ['world'] },
      new AbortController().signal,
      skipped,
    ),
  ).toBe(2)
  expect(skipped.summary()).toBe(
    '"world/huge.dat" is 8192 GiB long and nearly empty: files that have more than 64 GiB of holes together are left out. Make such files smaller, or delete them.',
  )
  expect(await filesIn(lobby())).toEqual(['world/a.dat', 'world/z.dat'])
})

test('security 212: files and directories with names that are not UTF-8 are skipped and reported', async () => {
  await put(copy(), { 'world/a.dat': 'a', 'b.dat': 'b' })
  const latin1 = (path: string) => Buffer.from(join(copy(), path), 'latin1')
  await writeFile(latin1('world/caf\xe9.dat'), 'lost')
  await writeFile(latin1('\xe8.dat'), 'lost')
  await writeFile(latin1('\xe8.tmp'), 'not kept')
  await mkdir(latin1('world/d\xe9'))
  const skipped = createSkippedEntries()
  expect(
    await files.writeBack(
      { copy: copy(), directory: lobby(), paths: ['world', '*.dat'] },
      new AbortController().signal,
      skipped,
    ),
  ).toBe(2)
  const summary = skipped.summary()
  for (const name of ['world/café.dat', 'world/dé', 'è.dat'])
    expect(summary).toContain(`"${name}" has a name that is not UTF-8`)
  expect(summary).not.toContain('.tmp')
  expect(await filesIn(lobby())).toEqual(['b.dat', 'world/a.dat'])
})

;(canMount ? test : test.skip)(
  'a file that does not fit on the disk is not started (skipped without mount rights)',
  async () => {
    await writeFile(join(copy(), 'large.dat'), Buffer.alloc(2 * 2 ** 20, 7))
    mountTmpfs(lobby(), '1m')
    try {
      await expect(writeBack('large.dat')).rejects.toMatchObject({
        code: 'DISK_FULL',
        message: 'The disk of the shared area has no room for "large.dat".',
      })
      expect(await readdir(lobby())).toEqual([])
    } finally {
      unmount(lobby())
    }
  },
)

test('a removed copy has nothing to write back', async () => {
  await rm(copy(), { recursive: true })
  expect(await writeBack('world')).toBe(0)
})

test('security 231: what has a link, a file or a directory in its place is written beside it, also again, and reported', async () => {
  await put(copy(), { 'world/region/1': 'one', 'world/region/2': 'two', 'config.yml': 'text', 'ops.json': 'mine' })
  await put(lobby(), { 'config.yml/inside': 'x', 'treasure/1': 'of another' })
  await symlink('treasure', join(lobby(), 'world'))
  const paths = ['world/region/*', 'config.yml', 'ops.json']
  for (const written of [4, 0]) {
    const skipped = createSkippedEntries()
    const task = { copy: copy(), directory: lobby(), paths }
    expect(await files.writeBack(task, new AbortController().signal, skipped)).toBe(written)
    expect(skipped.summary()).toBe(
      '"world" is a file or a link in the shared area, not a directory. What is kept of it is in "world (copy)". ' +
        '"config.yml" is a directory in the shared area, not a file. What is kept of it is in "config.yml (copy)".',
    )
  }
  expect(await filesIn(lobby())).toEqual([
    'config.yml (copy)',
    'config.yml/inside',
    'ops.json',
    'treasure/1',
    'world',
    'world (copy)/region/1',
    'world (copy)/region/2',
  ])
})

test('security 231: a link that another instance put beside it as well is not followed, and the next name is taken', async () => {
  await put(copy(), { 'world/level.dat': 'mine', 'config.yml': 'text' })
  await put(lobby(), { 'config.yml/inside': 'x', 'config.yml (copy)/inside': 'x' })
  await mkdir(join(lobby(), 'treasure'))
  for (const name of ['world', 'world (copy)']) await symlink('treasure', join(lobby(), name))
  for (const written of [2, 0]) {
    const skipped = createSkippedEntries()
    const task = { copy: copy(), directory: lobby(), paths: ['world', 'config.yml'] }
    expect(await files.writeBack(task, new AbortController().signal, skipped)).toBe(written)
    expect(skipped.summary()).toContain('What is kept of it is in "world (copy) (2)".')
  }
  expect(await filesIn(lobby())).toEqual([
    'config.yml (copy) (2)',
    'config.yml (copy)/inside',
    'config.yml/inside',
    'world',
    'world (copy)',
    'world (copy) (2)/level.dat',
  ])
})

test('security 231: a name that is taken with all others beside it fails the write-back', async () => {
  await put(copy(), { 'world/level.dat': 'mine' })
  await writeFile(join(lobby(), 'world'), '')
  await writeFile(join(lobby(), 'world (copy)'), '')
  for (let count = 2; count <= 20; count += 1) await writeFile(join(lobby(), `world (copy) (${count})`), '')
  await expect(writeBack('world')).rejects.toMatchObject({
    code: 'CONFLICT',
    message:
      '"world" is a file or a link in the shared area, not a directory, and the names beside it are taken as well.',
  })
})

test.each([
  ['*', 'anything.yml', true],
  ['*.yml', 'config.yml', true],
  ['*.yml', 'config.yaml', false],
  ['a*b*c', 'a-b-b-c', true],
  ['a*b*c', 'a-c-b', false],
  ['exact', 'exact', true],
  ['exact', 'exactly', false],
  ['a.c', 'abc', false],
])('the pattern %s and the name %s: %s', (pattern, name, matches) => {
  expect(matchesWildcard(pattern, name)).toBe(matches)
})

test('matching a pattern of many stars against a long name terminates', () => {
  expect(matchesWildcard(`${'*a'.repeat(60)}b`, 'a'.repeat(255))).toBe(false)
})
