import { execFileSync } from 'node:child_process'
import { chownSync, lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import pino from 'pino'
import { DEPTH_LIMIT } from '../../../src/platform/share/depth'
import { openFiles, type Files } from '../../../src/platform/share/files'
import { createJail, withDirectory } from '../../../src/platform/share/jail'
import { createSkippedEntries } from '../../../src/platform/share/skippedEntries'
import { FIRST_USER_ID, chownTree } from '../../../src/platform/share/ownership'
import { replicate } from '../../../src/platform/share/replicas/replicate'
import { makeTar, makeZip } from '../../support/platform/archives'
import { isRoot } from '../../support/platform/canContain'
import { makeDeepTree } from '../../support/platform/deepTree'
import { useTemporaryDirectory } from '../../support/platform/temporaryDirectory'

const directory = useTemporaryDirectory()
afterAll(async () => {
  await files.close()
  // Node.js cannot remove paths longer than the system's limit.
  execFileSync('rm', ['-rf', directory()])
})
const share = () => join(directory(), 'share')
/** Enough for a path longer than the system's limit. */
const LEVELS = 3_000
const TOO_DEEP = `…" is more than ${DEPTH_LIMIT} directories deep. Move it up, or delete it.`
let files: Files

beforeAll(async () => {
  mkdirSync(join(share(), 'lobby/deep'), { recursive: true })
  files = await openFiles({
    dataDir: join(directory(), 'data'),
    shareDir: share(),
    log: pino({ level: 'silent' }),
    now: Date.now,
  })
  makeDeepTree(join(share(), 'lobby/deep'), LEVELS)
  // One file is read before the deep directory, the other one after it.
  for (const name of ['a.txt', 'z.txt']) writeFileSync(join(share(), 'lobby', name), name)
})

/** The number of nested directories called `d`. */
function levelsBelow(path: string): number {
  let levels = 0
  for (let at = path; readdirSync(at).includes('d'); at = join(at, 'd')) levels += 1
  return levels
}

test('a copy contains what lies above the depth limit, and reports the rest', async () => {
  const skipped = createSkippedEntries()
  await replicate(join(share(), 'lobby'), join(directory(), 'copy'), { skipped })
  expect(readdirSync(join(directory(), 'copy')).sort()).toEqual(['a.txt', 'deep', 'z.txt'])
  expect(levelsBelow(join(directory(), 'copy/deep'))).toBe(DEPTH_LIMIT - 1)
  expect(skipped.summary()).toMatch(/^"deep\/d\/d\//)
  expect(skipped.summary()).toContain(TOO_DEEP)
})

test('a copy in which an instance made deep directories is restored to its source', async () => {
  mkdirSync(join(directory(), 'used'))
  makeDeepTree(join(directory(), 'used'), LEVELS)
  await replicate(join(share(), 'lobby'), join(directory(), 'used'))
  expect(readdirSync(join(directory(), 'used')).sort()).toEqual(['a.txt', 'deep', 'z.txt'])
})

test('directories with names of maximum length are copied although the whole path exceeds the limit of the system', async () => {
  const name = 'x'.repeat(255)
  execFileSync(
    process.execPath,
    [
      '-e',
      `for (let level = 0; level < 20; level += 1) { fs.mkdirSync('${name}'); process.chdir('${name}') } fs.writeFileSync('leaf', '')`,
    ],
    {
      cwd: (mkdirSync(join(share(), 'long')), join(share(), 'long')),
    },
  )
  // Only the file counts, the directories do not.
  expect(await replicate(join(share(), 'long'), join(directory(), 'long'))).toBe(1)
  expect(await replicate(join(share(), 'long'), join(directory(), 'long'))).toBe(0)
})

test('§13 keep: what lies above the depth limit is written back, and the rest is reported', async () => {
  const copy = join(directory(), 'instance')
  mkdirSync(join(copy, 'world/deep'), { recursive: true })
  mkdirSync(join(share(), 'kept'))
  makeDeepTree(join(copy, 'world/deep'), LEVELS)
  for (const name of ['a.txt', 'z.txt']) writeFileSync(join(copy, 'world', name), name)
  const skipped = createSkippedEntries()
  expect(
    await files.writeBack(
      { copy, directory: join(share(), 'kept'), paths: ['world'] },
      new AbortController().signal,
      skipped,
    ),
  ).toBe(2)
  expect(levelsBelow(join(share(), 'kept/world/deep'))).toBe(DEPTH_LIMIT - 2)
  expect(skipped.summary()).toMatch(/^"world\/deep\/d\/d\//)
  expect(skipped.summary()).toContain(TOO_DEEP)
})

test('an archive is refused with a message that names the directory', async () => {
  await expect(files.archive(1, '/nfsshare/lobby')).rejects.toMatchObject({
    code: 'CONFLICT',
    message: expect.stringMatching(/^"lobby\/deep\/d\/d\//) as string,
  })
  await expect(files.archive(1, '/nfsshare/lobby')).rejects.toMatchObject({
    message: expect.stringContaining(TOO_DEEP) as string,
  })
  expect(readdirSync(share()).filter((name) => name.includes('lobby'))).toEqual(['lobby'])
})

test('a download contains everything else, and a text file that lists what is missing', async () => {
  writeFileSync(join(share(), 'got.zip'), await buffer(await files.downloads.zip(1, ['/nfsshare/lobby'])))
  await files.unarchive(1, '/nfsshare/got.zip')
  expect(readdirSync(join(share(), 'got')).sort()).toEqual(['lobby', 'not-included.txt'])
  expect(readdirSync(join(share(), 'got/lobby')).sort()).toEqual(['a.txt', 'deep', 'z.txt'])
  expect(readFileSync(join(share(), 'got/not-included.txt'), 'utf8')).toContain(TOO_DEEP)
})

test('an archive of exactly the depth limit can be extracted, and a deeper one is refused', async () => {
  for (const [name, levels] of [
    ['most', DEPTH_LIMIT],
    ['more', DEPTH_LIMIT + 1],
  ] as const) {
    writeFileSync(join(share(), `${name}.zip`), await makeZip({ [`${'d/'.repeat(levels)}leaf.txt`]: 'leaf' }))
  }
  await files.unarchive(1, '/nfsshare/most.zip')
  expect(levelsBelow(join(share(), 'most'))).toBe(DEPTH_LIMIT)
  await files.archive(1, '/nfsshare/most/d')
  writeFileSync(join(share(), 'empty.tar'), await makeTar([{ name: 'd/'.repeat(DEPTH_LIMIT + 1), type: 'directory' }]))
  for (const name of ['more.zip', 'empty.tar']) {
    await expect(files.unarchive(1, `/nfsshare/${name}`)).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      message: expect.stringContaining('is more than') as string,
    })
  }
})

test('a directory too deep to be archived cannot be created', async () => {
  const deepest = `/nfsshare/made${'/d'.repeat(DEPTH_LIMIT - 1)}`
  mkdirSync(join(share(), deepest.slice('/nfsshare'.length), '..'), { recursive: true })
  await files.changes.createDirectory(deepest)
  await expect(files.changes.createDirectory(`${deepest}/d`)).rejects.toMatchObject({
    code: 'INVALID_INPUT',
    message: `path: A directory may be at most ${DEPTH_LIMIT} directories deep.`,
  })
  await files.archive(1, '/nfsshare/made')
})

;(isRoot ? test : test.skip)(
  '§12 a start changes owners above the depth limit and reports the rest, and a move succeeds (skipped without root)',
  async () => {
    const uid = FIRST_USER_ID + 3
    const give = async () => {
      const skipped = createSkippedEntries()
      await withDirectory(createJail(share()).openDirectory(['lobby']), (held) =>
        chownTree(held, uid, () => undefined, skipped),
      )
      return skipped.summary()
    }
    expect(await give()).toContain(TOO_DEEP)
    for (const path of ['a.txt', 'z.txt', `deep${'/d'.repeat(DEPTH_LIMIT - 1)}`])
      expect([path, lstatSync(join(share(), 'lobby', path)).uid]).toEqual([path, uid])
    expect(lstatSync(join(share(), `lobby/deep${'/d'.repeat(DEPTH_LIMIT)}`)).uid).toBe(0)
    mkdirSync(join(share(), 'of-a-deployment'))
    chownSync(join(share(), 'of-a-deployment'), uid, uid)
    await files.changes.move('/nfsshare/lobby', '/nfsshare/of-a-deployment/lobby')
    expect(readFileSync(join(share(), 'of-a-deployment/lobby/z.txt'), 'utf8')).toBe('z.txt')
  },
)
