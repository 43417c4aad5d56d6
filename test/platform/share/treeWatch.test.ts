import { mkdirSync, readdirSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pino from 'pino'
import { withDirectory, openRealDirectory } from '../../../src/platform/share/jail'
import { createReplicas, type Replicas } from '../../../src/platform/share/replicas/replicas'
import { createTreeWatch } from '../../../src/platform/share/replicas/treeWatch'
import { useTemporaryDirectory } from '../../support/platform/temporaryDirectory'
import { until } from '../../support/platform/until'

const directory = useTemporaryDirectory()
afterAll(() => replicas.close())
const lobby = () => join(realpathSync(directory()), 'lobby')
let replicas: Replicas
let completed = 0

beforeAll(() => {
  replicas = createReplicas(directory(), pino({ level: 'silent' }))
  replicas.onSync(({ event }) => (completed += event === 'sync_completed' ? 1 : 0))
})

/** The number of inotify watches of this process. */
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

/** The content of a file in the replica. */
function copyOf(path: string): string | undefined {
  const [replica = ''] = readdirSync(join(directory(), 'replica'))
  try {
    return readFileSync(join(directory(), 'replica', replica, path), 'utf8')
  } catch {
    return undefined
  }
}

test('watching a tree takes one inotify watch per directory and none for files', async () => {
  for (const name of ['a', 'b']) {
    mkdirSync(join(lobby(), name), { recursive: true })
    for (let file = 0; file < 200; file += 1) writeFileSync(join(lobby(), name, `${file}.txt`), '')
  }
  const before = watches()
  await synced(() => replicas.setWatched([lobby()]))
  expect(watches() - before).toBe(3)
})

test('a write starts a sync in an existing directory, a new one and one that replaced another', async () => {
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

test('unwatching a tree removes its watches', async () => {
  const before = watches()
  replicas.setWatched([])
  await until(() => watches() === before - 4)
})

test('directories beyond the limit are not watched, which is reported once; removed directories make room', async () => {
  const reasons: string[] = []
  const watch = createTreeWatch(
    () => undefined,
    (reason) => reasons.push(reason),
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
    expect([watches() - before, reasons]).toEqual([2, ['it holds more than 2 directories']])
    await walk('b', 'b/below')
    await walk('b', 'b/below')
    expect([watches() - before, reasons.length]).toEqual([2, 1])
  } finally {
    watch.close()
  }
})
