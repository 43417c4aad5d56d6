import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { createJail, withDirectory } from '../../../src/platform/share/jail'
import { removePath, removeTree } from '../../../src/platform/share/changes/removal'
import { makeDeepTree } from '../../support/platform/deepTree'
import { useTemporaryDirectory } from '../../support/platform/temporaryDirectory'

/** Node.js cannot remove paths longer than the system's limit. */
const share = useTemporaryDirectory()
afterAll(() => void execFileSync('rm', ['-rf', share()]))
const remove = (name: string) =>
  withDirectory(createJail(share()).openDirectory([]), (directory) => removeTree(directory, name))
const openFiles = () => readdirSync('/proc/self/fd').length

/** The maximum number of files open at the same time during the work. */
async function mostOpenDuring(work: Promise<unknown>): Promise<number> {
  let most = 0
  let isDone = false
  const done = work.finally(() => (isDone = true))
  while (!isDone) {
    most = Math.max(most, openFiles())
    await delay(1)
  }
  await done
  return most
}

test('a tree of 4,000 levels is removed with few open files', async () => {
  mkdirSync(join(share(), 'deep'))
  makeDeepTree(join(share(), 'deep'), 4_000)
  const before = openFiles()
  expect(await mostOpenDuring(remove('deep'))).toBeLessThan(before + 100)
  expect(readdirSync(share())).toEqual([])
})

test('many branches, some of them deep, are removed completely, and targets of links stay', async () => {
  writeFileSync(join(share(), 'kept.txt'), 'kept')
  mkdirSync(join(share(), 'tree'))
  for (let branch = 0; branch < 5; branch += 1) {
    const path = join(share(), 'tree', `${'a/'.repeat(30)}branch-${branch}`)
    mkdirSync(path, { recursive: true })
    makeDeepTree(path, 10 * branch)
    symlinkSync(join(share(), 'kept.txt'), join(path, 'link'))
  }
  await remove('tree')
  expect(readdirSync(share())).toEqual(['kept.txt'])
})

test('an internal path is removed with all its content, and a missing one is not an error', async () => {
  mkdirSync(join(share(), 'own/copy'), { recursive: true })
  makeDeepTree(join(share(), 'own/copy'), 3_000)
  await removePath(join(share(), 'own/copy'))
  expect(readdirSync(join(share(), 'own'))).toEqual([])
  await removePath(join(share(), 'own/copy'))
  await removePath(join(share(), 'gone/copy'))
})
