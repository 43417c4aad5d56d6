import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { canMount, mountTmpfs, unmount } from '../support/platform/tmpfs'
import { useEchoDeployment } from './echoDeployment'

const { at, shared, withKey } = useEchoDeployment()

test('security 85: a download follows no link in the local directory', async () => {
  const { ok, run } = withKey()
  mkdirSync(at('sent/tree/inner'), { recursive: true })
  mkdirSync(at('outside'))
  mkdirSync(at('kept/tree'), { recursive: true })
  writeFileSync(at('sent/tree/inner/file.txt'), 'of the server')
  await ok('cp', at('sent/tree'), 'remote:/echo')
  symlinkSync(at('outside'), at('kept/tree/inner'))
  expect(await run('cp', 'remote:/echo/tree', at('kept'))).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(`${at('kept/tree/inner')} is a link`),
  })
  expect(readdirSync(at('outside'))).toEqual([])
  // A link that is named leads where it leads.
  symlinkSync(at('outside'), at('named'))
  await ok('cp', 'remote:/echo/tree', at('named'))
  expect(existsSync(at('outside/tree/inner/file.txt'))).toBe(true)
})

test('a file with the longest name is downloaded', async () => {
  const name = 'n'.repeat(255)
  writeFileSync(shared(`echo/${name}`), 'text')
  mkdirSync(at('long'))
  await withKey().ok('cp', `remote:/echo/${name}`, at('long'))
  expect(readdirSync(at('long'))).toEqual([name])
  rmSync(shared(`echo/${name}`))
})

test('a directory whose name a ZIP cannot contain is downloaded', async () => {
  mkdirSync(shared('a\\b'))
  writeFileSync(shared('a\\b/file.txt'), 'text')
  await withKey().ok('cp', 'remote:/a\\b', at('odd'))
  expect(readdirSync(at('odd'))).toEqual(['file.txt'])
  rmSync(shared('a\\b'), { recursive: true })
})

;(canMount ? test : test.skip)(
  'a directory is downloaded to another disk (skipped where mounting is not allowed)',
  async () => {
    mkdirSync(shared('backup/region'), { recursive: true })
    writeFileSync(shared('backup/region/r.0.0.mca'), 'chunks')
    mountTmpfs(at('disk'))
    try {
      await withKey().ok('cp', 'remote:/backup/.', at('disk'))
      expect(readdirSync(at('disk'))).toEqual(['region'])
      expect(readdirSync(at('disk/region'))).toEqual(['r.0.0.mca'])
    } finally {
      unmount(at('disk'))
    }
  },
)

test('a download of which the server leaves something out copies the rest, and fails with what is missing', async () => {
  const { ok, run } = withKey()
  mkdirSync(shared('holes/empty'), { recursive: true })
  for (const name of ['hole', 'level.dat']) writeFileSync(shared(`holes/${name}`), 'text')
  truncateSync(shared('holes/hole'), 100 * 2 ** 30)
  expect(await run('cp', 'remote:/holes', at('holes'))).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('Not everything was copied: "holes/hole" is 100 GiB long'),
  })
  expect(readdirSync(at('holes')).sort()).toEqual(['empty', 'level.dat'])
  // The root itself has no directory in the archive.
  expect(await run('cp', 'remote:/', at('everything'))).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('Not everything was copied: "holes/hole" is 100 GiB long'),
  })
  expect(existsSync(at('everything/holes/level.dat'))).toBe(true)
  rmSync(shared('holes/hole'))
  // Named as the root in paths of the API.
  mkdirSync(shared('nfsshare'))
  await ok('cp', 'remote:/', at('all'))
  expect(existsSync(at('all/holes/level.dat'))).toBe(true)
  await ok('cp', 'remote:/holes/empty', at('empty'))
  expect(readdirSync(at('empty'))).toEqual([])
})

test('an upload of a file that cannot be read fails with the name of the file', async () => {
  expect(await withKey().run('cp', '/proc/self/mem', 'remote:/echo/memory')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('/proc/self/mem cannot be read: EIO'),
  })
})
