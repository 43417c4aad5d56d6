import { mkdirSync, readdirSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pino from 'pino'
import { withDirectory, openRealDirectory } from '../../../src/platform/share/jail'
import { createReplicas, type Replicas } from '../../../src/platform/share/replicas/replicas'
import { createTreeWatch } from '../../../src/platform/share/replicas/treeWatch'
import { useTemporaryDirectory } from '../../support/platform/temporaryDirectory'
import { until } from '../../support/platform/until'

const directory = useTemporaryDirectory(() => replicas.close())
const lobby = () => join(realpathSync(directory()), 'lobby')
let replicas: Replicas
let completed = 0

beforeAll(() => {
  replicas = createReplicas(directory(), pino({ level: 'silent' }))
  replicas.onSync(({ event }) => (completed += event === 'sync_completed' ? 1 : 0))
})

/** How many watches of the kernel this process has. */
function watches(): number {
  const infoOf = (descriptor: string) => {
    try {
      return readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8')
    } catch {
      return ''
    }
  }
  return readdirSync('/proc/self/fd').reduce(
    (sum, descriptor) => sum + (infoOf(descriptor).match(/^inotify /gm)?.length ?? 0),
    0,
  )
}

async function synced(change: () => void): Promise<void> {
  const before = completed
  change()
  await until(() => completed > before)
}

/** What the replica has of a file. */
function copyOf(path: string): string | undefined {
  const [replica = ''] = readdirSync(join(directory(), 'replica'))
  try {
    return readFileSync(join(directory(), 'replica', replica, path), 'utf8')
  } catch {
    return undefined
  }
}

test('a followed directory costs a watch for each of its directories and none for its files', async () => {
  for (const name of ['a', 'b']) {
    mkdirSync(join(lobby(), name), { recursive: true })
    for (let file = 0; file < 200; file += 1) writeFileSync(join(lobby(), name, `${file}.txt`), '')
  }
  const before = watches()
  await synced(() => replicas.setWatched([lobby()]))
  expect(watches() - before).toBe(3)
})

test('a file that is written to, in a directory that was there, that is new, or that took the place of another, starts a sync', async () => {
  await synced(() => writeFileSync(join(lobby(), 'a/7.txt'), 'changed'))
  expect(copyOf('a/7.txt')).toBe('changed')
  await synced(() => mkdirSync(join(lobby(), 'new/below'), { recursive: true }))
  await synced(() => writeFileSync(join(lobby(), 'new/below/file.txt'), 'one'))
  await synced(() => writeFileSync(join(lobby(), 'new/below/file.txt'), 'other'))
  expect(copyOf('new/below/file.txt')).toBe('other')
  await synced(() => {
    rmSync(join(lobby(), 'b'), { recursive: true })
    renameSync(join(lobby(), 'new'), join(lobby(), 'b'))
  })
  await synced(() => writeFileSync(join(lobby(), 'b/below/file.txt'), 'the third'))
  expect(copyOf('b/below/file.txt')).toBe('the third')
})

test('what is followed no more is not watched', async () => {
  const before = watches()
  replicas.setWatched([])
  await until(() => watches() === before - 4)
})

test('beyond the limit directories are not watched, which is told once; those that are gone make room', async () => {
  const told: string[] = []
  const watch = createTreeWatch(
    () => undefined,
    (reason) => told.push(reason),
    2,
  )
  const before = watches()
  const walk = async (...names: string[]) => {
    for (const name of names)
      await withDirectory(openRealDirectory(join(lobby(), name)), (held) => watch.visit(held, name))
    watch.removeUnvisited()
  }
  try {
    await walk('a', 'b', 'b/below')
    await walk('a', 'b', 'b/below')
    expect([watches() - before, told]).toEqual([2, ['it holds more than 2 directories']])
    await walk('b', 'b/below')
    await walk('b', 'b/below')
    expect([watches() - before, told.length]).toEqual([2, 1])
  } finally {
    watch.close()
  }
})
