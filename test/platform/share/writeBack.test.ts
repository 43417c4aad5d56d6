import { mkdir, open, readdir, readFile, rm, stat, symlink, truncate, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { canMount, mountTmpfs, unmount } from '../../support/platform/tmpfs'
import { filesIn, put, useWriteBack } from '../../support/platform/writtenBack'

const { directory, copy, lobby, writeBack, writeBackReporting } = useWriteBack()

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

test('a link of the copy in place of what is kept is reported, because nothing is written back through it', async () => {
  await put(copy(), { 'data/file': 'mine', 'plugins/file': 'mine' })
  await symlink('data', join(copy(), 'world'))
  await symlink('file', join(copy(), 'plugins/link'))
  const { written, summary } = await writeBackReporting('world/region', 'plugins', '*o*')
  expect(written).toBe(1)
  expect(summary).toBe('"world" is a link, through which nothing is written back.')
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
  const { written, summary } = await writeBackReporting('world')
  expect(written).toBe(2)
  expect(summary).toBe(
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
  const { written, summary } = await writeBackReporting('world', '*.dat')
  expect(written).toBe(2)
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
