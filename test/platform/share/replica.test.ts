import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmdirSync } from 'node:fs'
import {
  chmod,
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  stat,
  symlink,
  truncate,
  utimes,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { AppError } from '../../../src/platform/errors'
import { createSkippedEntries } from '../../../src/platform/share/skippedEntries'
import { replicate } from '../../../src/platform/share/replicas/replicate'
import { useTemporaryDirectory } from '../../support/platform/temporaryDirectory'
import { until } from '../../support/platform/until'

const directory = useTemporaryDirectory()
let source: string
let target: string
let number = 0

beforeEach(async () => {
  number += 1
  source = join(directory(), `source-${number}`)
  target = join(directory(), `target-${number}`)
  await mkdir(join(source, 'world/region'), { recursive: true })
  await writeFile(join(source, 'server.properties'), 'motd=hello')
  await writeFile(join(source, 'world/region/r.0.0.mca'), Buffer.alloc(100_000, 7))
  await writeFile(join(source, 'run.sh'), '#!/bin/sh')
  await chmod(join(source, 'run.sh'), 0o755)
})

/** Whether files can be made immutable here, which requires root and a file system that has it. */
const canChangeAttributes = (() => {
  const path = mkdtempSync(join(tmpdir(), 'quarterdeck-attributes-'))
  try {
    return ['+i', '-i'].every((change) => spawnSync('chattr', [change, path]).status === 0)
  } finally {
    rmdirSync(path)
  }
})()

/** The kernel counts times of changes in ticks of a few milliseconds. */
async function replicaIsOlder(): Promise<void> {
  const { ctimeMs } = await stat(join(target, 'run.sh'))
  const probe = join(directory(), 'probe')
  await until(async () => {
    await writeFile(probe, '')
    return (await stat(probe)).ctimeMs > ctimeMs
  })
}

test('the target becomes identical to the source, with contents, times and modes', async () => {
  expect(await replicate(source, target)).toBe(3)
  expect((await readdir(target, { recursive: true })).sort()).toEqual(
    (await readdir(source, { recursive: true })).sort(),
  )
  expect(await readFile(join(target, 'world/region/r.0.0.mca'))).toEqual(Buffer.alloc(100_000, 7))
  expect((await stat(join(target, 'run.sh'))).mode & 0o777).toBe(0o755)
  expect((await stat(join(target, 'run.sh'))).mtimeMs).toBeCloseTo((await stat(join(source, 'run.sh'))).mtimeMs, 0)
})

test('decisions §5: only changes are copied, and removed files are removed', async () => {
  await replicate(source, target)
  expect(await replicate(source, target)).toBe(0)
  const untouched = (await stat(join(target, 'run.sh'))).ino
  await writeFile(join(source, 'server.properties'), 'motd=other')
  await utimes(join(source, 'server.properties'), new Date(), new Date(Date.now() + 5000))
  await rm(join(source, 'world'), { recursive: true })
  await writeFile(join(target, 'left-by-the-server.log'), 'x')
  expect(await replicate(source, target)).toBe(3)
  expect((await readdir(target)).sort()).toEqual(['run.sh', 'server.properties'])
  expect(await readFile(join(target, 'server.properties'), 'utf8')).toBe('motd=other')
  expect((await stat(join(target, 'run.sh'))).ino).toBe(untouched)
})

test('security 160: a file is copied that takes the name of another one of the same size and time', async () => {
  // An archive may give all of its files one time.
  const extractedAt = new Date('2020-01-01T00:00:00Z')
  for (const [name, text] of [
    ['active.yml', 'difficulty: easy'],
    ['event.yml', 'difficulty: hard'],
  ] as const) {
    await writeFile(join(source, name), text)
    await utimes(join(source, name), extractedAt, extractedAt)
  }
  await replicate(source, target)
  await replicaIsOlder()
  await rename(join(source, 'event.yml'), join(source, 'active.yml'))
  expect(await replicate(source, target)).toBe(2)
  expect(await readFile(join(target, 'active.yml'), 'utf8')).toBe('difficulty: hard')
  expect(await replicate(source, target)).toBe(0)
})

test('security 160: the files of a directory are copied that takes the name of another one, however equal they look', async () => {
  const extractedAt = new Date('2020-01-01T00:00:00Z')
  for (const map of ['active', 'event']) {
    await mkdir(join(source, map, 'region'), { recursive: true })
    await writeFile(join(source, map, 'region/r.0.0.mca'), Buffer.alloc(4096, map))
    await utimes(join(source, map, 'region/r.0.0.mca'), extractedAt, extractedAt)
  }
  await replicate(source, target)
  await replicaIsOlder()
  await rename(join(source, 'active'), join(source, 'former'))
  await rename(join(source, 'event'), join(source, 'active'))
  await replicate(source, target)
  expect(await readFile(join(target, 'active/region/r.0.0.mca'))).toEqual(Buffer.alloc(4096, 'event'))
  expect(await replicate(source, target)).toBe(0)
})

test('a file with a time outside of the calendar range is copied like any other', async () => {
  // On tmpfs, where Linux keeps any time; other file systems may clamp it.
  const shared = await mkdtemp('/dev/shm/quarterdeck-replica-')
  try {
    await writeFile(join(shared, 'odd'), 'odd')
    await utimes(join(shared, 'odd'), 9e12, 9e12)
    expect((await stat(join(shared, 'odd'))).mtime.getTime()).toBeNaN()
    expect(await replicate(shared, target)).toBe(1)
    expect(await readFile(join(target, 'odd'), 'utf8')).toBe('odd')
  } finally {
    await rm(shared, { recursive: true })
  }
})

test('a file replaces a directory of its name, and a directory a file', async () => {
  await replicate(source, target)
  await rm(join(source, 'world'), { recursive: true })
  await writeFile(join(source, 'world'), 'now a file')
  await rm(join(source, 'run.sh'))
  await mkdir(join(source, 'run.sh'))
  await replicate(source, target)
  expect(await readFile(join(target, 'world'), 'utf8')).toBe('now a file')
  expect((await stat(join(target, 'run.sh'))).isDirectory()).toBe(true)
})

test('links that stay inside are kept; those that lead out, absolute ones, dangling ones and pipes are left out', async () => {
  await symlink('server.properties', join(source, 'inside'))
  await symlink('../../../../../etc/passwd', join(source, 'outside'))
  await symlink('/etc/passwd', join(source, 'absolute'))
  await symlink('/etc', join(source, 'directory'))
  await symlink('nothing', join(source, 'dangling'))
  execFileSync('mkfifo', [join(source, 'pipe')])
  await replicate(source, target)
  expect((await readdir(target)).sort()).toEqual(['inside', 'run.sh', 'server.properties', 'world'])
  expect(await readlink(join(target, 'inside'))).toBe('server.properties')
  expect(await replicate(source, target)).toBe(0)
})

test('a file with a time before 1970 is copied once, with its time', async () => {
  const time = new Date('1969-12-31T23:59:00.500Z')
  await utimes(join(source, 'run.sh'), time, time)
  await replicate(source, target)
  expect((await stat(join(target, 'run.sh'))).mtime).toEqual(time)
  expect(await replicate(source, target)).toBe(0)
})

test('security 98: whether a link is copied reveals nothing about other directories on its way', async () => {
  const name = basename(source)
  await symlink(`../${name}/server.properties`, join(source, 'by-there'))
  await symlink(`../gone/../${name}/server.properties`, join(source, 'by-gone'))
  await symlink('world/../server.properties', join(source, 'within'))
  await replicate(source, target)
  const copied = await readdir(target)
  expect(copied).toContain('within')
  expect([copied.includes('by-there'), copied.includes('by-gone')]).toEqual([false, false])
})

test('a sparse file stays sparse and keeps its mode, and is not copied if it consists almost only of holes', async () => {
  const sparse = await open(join(source, 'sparse.dat'), 'w', 0o640)
  await sparse.write(Buffer.from('data'), 0, 4, 100 * 2 ** 20)
  await sparse.close()
  await writeFile(join(source, 'huge.dat'), '')
  await truncate(join(source, 'huge.dat'), 2 ** 43)
  const skipped = createSkippedEntries()
  expect(await replicate(source, target, { skipped })).toBe(4)
  const { size, blocks, mode } = await stat(join(target, 'sparse.dat'))
  expect([size, mode & 0o777]).toEqual([100 * 2 ** 20 + 4, 0o640])
  expect(blocks * 512).toBeLessThan(2 ** 20)
  expect((await readFile(join(target, 'sparse.dat'))).equals(await readFile(join(source, 'sparse.dat')))).toBe(true)
  expect(skipped.summary()).toMatch(/^"huge.dat" is 8192 GiB long and nearly empty/)
  expect((await readdir(target)).sort()).toEqual(['run.sh', 'server.properties', 'sparse.dat', 'world'])
  expect(await replicate(source, target)).toBe(0)
})

test('an aborted replication removes nothing more', async () => {
  await mkdir(join(source, 'empty'))
  await mkdir(target)
  await writeFile(join(target, 'gone.txt'), 'gone')
  const abort = new AbortController()
  const replicating = replicate(join(source, 'empty'), target, {
    signal: abort.signal,
    onDirectory: async () => abort.abort(new Error('enough')),
  })
  await expect(replicating).rejects.toThrow('enough')
  expect(await readdir(target)).toEqual(['gone.txt'])
})

;(canChangeAttributes ? test.each : test.skip.each)(['server.properties', 'large'])(
  'a file that cannot be written to the copy (%s) is not reported as one that cannot be read (skipped without chattr)',
  async (name) => {
    await rm(source, { recursive: true })
    await mkdir(source)
    await writeFile(join(source, name), Buffer.alloc(name === 'large' ? 2 ** 21 : 100, 1))
    await mkdir(target)
    execFileSync('chattr', ['+i', target])
    try {
      const failure: unknown = await replicate(source, target).catch((error: unknown) => error)
      expect(failure).not.toBeInstanceOf(AppError)
      expect(failure).toMatchObject({ code: 'EPERM' })
    } finally {
      execFileSync('chattr', ['-i', target])
    }
  },
)
