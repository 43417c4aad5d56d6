import { readFile, rename, rm, stat, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import pino from 'pino'
import { createEntryLocks } from '../../../src/platform/share/changes/entryLocks'
import { openTemporaries } from '../../../src/platform/share/changes/temporaries'
import { createJail } from '../../../src/platform/share/jail'
import { createWriteBack } from '../../../src/platform/share/replicas/writeBack'
import { until } from '../../support/platform/until'
import { filesIn, put, useWriteBack } from '../../support/platform/writtenBack'

const { directory, share, copy, lobby, writeBack, writeBackSince } = useWriteBack()

test('a newer file in the directory, written by another instance or an operator, is kept', async () => {
  await put(copy(), { 'whitelist.json': 'as it was at the start', 'ops.json': 'written by the instance' })
  await put(lobby(), { 'whitelist.json': 'edited meanwhile', 'ops.json': 'old' })
  await utimes(join(copy(), 'whitelist.json'), 1_700_000_000, 1_700_000_000)
  await utimes(join(lobby(), 'ops.json'), 1_700_000_000, 1_700_000_000)
  expect(await writeBack('*.json')).toBe(1)
  expect(await readFile(join(lobby(), 'whitelist.json'), 'utf8')).toBe('edited meanwhile')
  expect(await readFile(join(lobby(), 'ops.json'), 'utf8')).toBe('written by the instance')
})

test.each(['old.dat', 'new.dat'])(
  'a file that is saved as %s in the directory while that of the instance is being written is kept',
  async (name) => {
    await put(lobby(), { 'old.dat': 'old' })
    await utimes(join(lobby(), 'old.dat'), 1_700_000_000, 1_700_000_000)
    await put(copy(), { [name]: 'written by the instance' })
    const { ctimeMs } = await stat(join(copy(), name))
    await until(() => Date.now() > ctimeMs + 20)
    const log = pino({ level: 'silent' })
    const jail = createJail(share())
    const temporaries = await openTemporaries(join(directory(), 'data'), jail, createEntryLocks(), log)
    const writeBackSlowly = createWriteBack(
      jail,
      {
        ...temporaries,
        async file(parent, mode) {
          const temporary = await temporaries.file(parent, mode)
          await put(lobby(), { [name]: 'saved meanwhile' })
          return temporary
        },
      },
      log,
      async () => [],
    )
    const task = { copy: copy(), directory: lobby(), paths: ['*.dat'] }
    expect(await writeBackSlowly(task, new AbortController().signal)).toBe(0)
    expect(await readFile(join(lobby(), name), 'utf8')).toBe('saved meanwhile')
    // No unfinished file is left.
    expect(await filesIn(lobby())).toEqual([...new Set([name, 'old.dat'])].toSorted())
  },
)

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
  const stored = () => readFile(join(lobby(), 'ops.json'), 'utf8')

  test('a file that was replaced in the directory by one with an older time is not replaced by the unchanged copy', async () => {
    const copiedAt = await copyOf('as it was at the start')
    await rm(join(lobby(), 'ops.json'))
    await putOld(lobby(), { 'ops.json': 'restored from a backup' })
    expect(await writeBackSince(copiedAt, '*.json')).toBe(0)
    expect(await stored()).toBe('restored from a backup')
  })

  test('a file to which an instance gave an older time replaces the one that was copied', async () => {
    const copiedAt = await copyOf('as it was at the start')
    await putOld(copy(), { 'ops.json': 'downloaded with its time' })
    expect(await writeBackSince(copiedAt, '*.json')).toBe(1)
    expect(await stored()).toBe('downloaded with its time')
    expect(await writeBackSince(copiedAt, '*.json')).toBe(0)
  })

  test('a directory that an instance renamed is written back, although the files in it have not changed', async () => {
    await putOld(copy(), { 'next.json/1': 'one' })
    const { ctimeMs } = await stat(join(copy(), 'next.json/1'))
    await until(() => Date.now() > ctimeMs + 20)
    await rename(join(copy(), 'next.json'), join(copy(), 'world.json'))
    expect(await writeBackSince(ctimeMs, '*.json')).toBe(1)
    expect(await filesIn(lobby())).toEqual(['world.json/1'])
  })

  test('of a file that was changed in both, the newer one stays', async () => {
    const copiedAt = await copyOf('as it was at the start')
    await putOld(copy(), { 'ops.json': 'downloaded with its time' })
    await put(lobby(), { 'ops.json': 'edited meanwhile' })
    expect(await writeBackSince(copiedAt, '*.json')).toBe(0)
    expect(await stored()).toBe('edited meanwhile')
  })
})
