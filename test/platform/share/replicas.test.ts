import { appendFile, mkdir, readdir, readFile, rm, statfs, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import pino from 'pino'
import { createReplicas, type Replicas, type SyncState } from '../../../src/platform/share/replicas/replicas'
import { hungDiskMissing, mountDeadDisk } from '../../support/platform/hungDisk'
import { useTemporaryDirectory } from '../../support/platform/temporaryDirectory'
import { canMount, mountTmpfs, remount, unmount } from '../../support/platform/tmpfs'
import { until } from '../../support/platform/until'

const directory = useTemporaryDirectory()
let replicas: Replicas
let heard: SyncState['event'][]

beforeEach(() => {
  heard = []
  replicas = createReplicas(directory(), pino({ level: 'silent' }))
  replicas.onSync(({ event }) => heard.push(event))
})
afterEach(() => replicas.close())

async function follow(name: string): Promise<string> {
  const path = join(directory(), name)
  await mkdir(path, { recursive: true })
  replicas.setWatched([path])
  await until(() => replicas.state.event === 'sync_completed' && heard.at(-1) === 'sync_completed')
  heard.length = 0
  return path
}

test('decisions §5: a change from outside starts a sync, and its end is reported', async () => {
  const lobby = await follow('lobby')
  await writeFile(join(lobby, 'motd.txt'), 'hello')
  await until(() => heard.length >= 2)
  expect(heard).toEqual(['sync_started', 'sync_completed'])
  const copy = join(directory(), 'copy')
  await replicas.copyTo(lobby, copy)
  expect(await readFile(join(copy, 'motd.txt'), 'utf8')).toBe('hello')
})

test('a hundred concurrent changes cause one sync', async () => {
  const lobby = await follow('busy')
  await Promise.all(Array.from({ length: 100 }, (_file, at) => writeFile(join(lobby, `file-${at}`), String(at))))
  await until(() => heard.includes('sync_completed'))
  expect(heard).toEqual(['sync_started', 'sync_completed'])
})

test('a directory that never becomes quiet is synced nevertheless', async () => {
  const lobby = await follow('restless')
  const writing = setInterval(() => void appendFile(join(lobby, 'latest.log'), 'line\n'), 100)
  try {
    await until(async () => {
      for (const replica of await readdir(join(directory(), 'replica'))) {
        if ((await readdir(join(directory(), 'replica', replica))).includes('latest.log')) return true
      }
      return false
    })
  } finally {
    clearInterval(writing)
  }
})

test('a directory that disappears is not synced until it is back or no longer watched', async () => {
  await mkdir(join(directory(), 'vanishing'))
  await writeFile(join(directory(), 'vanishing/a.txt'), '')
  const lobby = await follow('vanishing')
  await rm(lobby, { recursive: true })
  await until(() => heard.includes('sync_started'))
  expect(replicas.state.event).toBe('sync_started')
  replicas.setWatched([])
  expect(replicas.state).toEqual({ event: 'sync_completed' })
  expect(heard.at(-1)).toBe('sync_completed')
})

test('a failed sync reports its reason and is retried, and success clears the reason', async () => {
  const data = join(directory(), 'blocked')
  const lobby = join(directory(), 'failing')
  await mkdir(data)
  await mkdir(lobby)
  // A file in place of the directory for replicas.
  await writeFile(join(data, 'replica'), '')
  const failing = createReplicas(data, pino({ level: 'silent' }))
  try {
    failing.setWatched([lobby])
    await until(() => failing.state.problem !== undefined)
    expect(failing.state).toEqual({
      event: 'sync_started',
      problem:
        '"failing" could not be copied yet. This is retried. "failing" is not a directory, or a part of its path is a file.',
    })
    await rm(join(data, 'replica'))
    await writeFile(join(lobby, 'changed.txt'), '')
    await until(() => failing.state.event === 'sync_completed')
    expect(failing.state).toEqual({ event: 'sync_completed' })
  } finally {
    await failing.close()
  }
})

;(hungDiskMissing === undefined ? test.each : test.skip.each)([
  [
    'the program of a mount has ended',
    0,
    'UNAVAILABLE',
    '"world/maps" does not answer (ENOTCONN). Check its disk or its mount.',
  ],
  [
    'the platform may not read an entry',
    1,
    'CONFLICT',
    'The platform may not read "world/maps". Allow its user to, or move it out of the directory.',
  ],
])('security 232: where %s, the sync and the copy for an instance name it', async (_what, user, code, message) => {
  const lobby = join(directory(), `unreadable-${user}`)
  await mkdir(join(lobby, 'world'), { recursive: true })
  const unmountDead = mountDeadDisk(join(lobby, 'world/maps'), user)
  try {
    await expect(replicas.copyTo(lobby, join(directory(), 'copy'))).rejects.toMatchObject({ code, message })
    replicas.setWatched([lobby])
    await until(() => replicas.state.problem !== undefined)
    expect(replicas.state.problem).toBe(`"unreadable-${user}" could not be copied yet. This is retried. ${message}`)
  } finally {
    unmountDead()
  }
})

;(canMount ? test : test.skip)(
  'a sync that does not fit on the disk of the data directory names that disk',
  async () => {
    const data = join(directory(), 'small')
    const lobby = join(directory(), 'large')
    mountTmpfs(data, '1m')
    await mkdir(lobby)
    await writeFile(join(lobby, 'world.bin'), Buffer.alloc(2 * 2 ** 20, 1))
    const full = createReplicas(data, pino({ level: 'silent' }))
    try {
      full.setWatched([lobby])
      await until(() => full.state.problem !== undefined)
      expect(full.state).toMatchObject({
        problem: '"large" could not be copied yet. This is retried. The disk of the platform’s data directory is full.',
      })
    } finally {
      await full.close()
      unmount(data)
    }
  },
)

;(canMount ? test : test.skip)(
  'security 189: copies that do not fit leave room for the platform on the disk of its data',
  async () => {
    const data = join(directory(), 'shared-disk')
    const many = join(directory(), 'many')
    const single = join(directory(), 'single')
    mountTmpfs(data, '16m')
    await mkdir(many)
    for (let at = 0; at < 200; at += 1) await writeFile(join(many, `${at}`), Buffer.alloc(100_000, 1))
    await mkdir(single)
    await writeFile(join(single, 'world.img'), Buffer.alloc(20_000_000, 1))
    const full = createReplicas(data, pino({ level: 'silent' }))
    const freeBytes = async () => {
      const { bavail, bsize } = await statfs(data)
      return bavail * bsize
    }
    let leastFree = Infinity
    const polled = setInterval(() => void freeBytes().then((free) => (leastFree = Math.min(leastFree, free))), 1)
    try {
      await expect(full.copyTo(single, join(data, 'copy'))).rejects.toMatchObject({ code: 'ENOSPC' })
      await expect(full.copyTo(many, join(data, 'copy'))).rejects.toMatchObject({ code: 'ENOSPC' })
      expect(Math.min(leastFree, await freeBytes())).toBeGreaterThan(2 ** 20)
    } finally {
      clearInterval(polled)
      await full.close()
      unmount(data)
    }
  },
)

const MANY_ENTRIES: [kind: string, make: (path: string) => Promise<void>][] = [
  ['files', (path) => writeFile(path, '')],
  ['directories', async (path) => void (await mkdir(path))],
  ['links', (path) => symlink('target', path)],
]
;(canMount ? test : test.skip).each(MANY_ENTRIES)(
  'security 226: copies of too many %s leave inodes for the platform on the disk of its data',
  async (kind, make) => {
    const data = join(directory(), `inodes-of-${kind}`)
    const many = join(directory(), `many-${kind}`)
    mountTmpfs(data, '16m')
    remount(data, 'nr_inodes=300')
    await mkdir(many)
    await writeFile(join(many, 'target'), '')
    for (let at = 0; at < 400; at += 1) await make(join(many, `${at}`))
    const full = createReplicas(data, pino({ level: 'silent' }))
    try {
      await expect(full.copyTo(many, join(data, 'copy'))).rejects.toMatchObject({ code: 'ENOSPC' })
      expect((await statfs(data)).ffree).toBeGreaterThan(20)
    } finally {
      await full.close()
      unmount(data)
    }
  },
)

test('a temporary file starts no sync and is not copied', async () => {
  const lobby = await follow('making')
  await writeFile(join(lobby, '.quarterdeck-1234.part'), 'half')
  await writeFile(join(lobby, 'whole.txt'), 'whole')
  await until(() => heard.includes('sync_completed'))
  const copy = join(directory(), 'copy-of-making')
  await replicas.copyTo(lobby, copy)
  expect(await readdir(copy)).toEqual(['whole.txt'])
})

test('unwatched replicas are removed from the disk, even those of an earlier platform; watched or copied ones stay', async () => {
  const root = join(directory(), 'replica')
  const kept = await follow('kept')
  await writeFile(join(kept, 'of-kept'), '')
  await mkdir(join(root, 'left-by-another'))
  const going = join(directory(), 'going')
  await mkdir(going, { recursive: true })
  await writeFile(join(going, 'large.bin'), Buffer.alloc(2 ** 20))
  const copies = Array.from({ length: 5 }, (_copy, at) => replicas.copyTo(going, join(directory(), `copy-${at}`)))
  replicas.prune()
  await Promise.all(copies)
  for (const at of copies.keys())
    expect((await readFile(join(directory(), `copy-${at}`, 'large.bin'))).length).toBe(2 ** 20)
  replicas.setWatched([kept, going])
  await until(() => replicas.state.event === 'sync_completed')
  replicas.setWatched([kept])
  replicas.prune()
  await until(
    () => readdir(root),
    (all) => all.length === 1,
  )
  const [left = ''] = await readdir(root)
  await until(
    () => readdir(join(root, left)),
    (files) => files.includes('of-kept'),
  )
})
