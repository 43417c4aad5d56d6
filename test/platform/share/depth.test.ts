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

const directory = useTemporaryDirectory(async () => {
  await files.close()
  // Node.js cannot remove what lies deeper than a path can be long.
  execFileSync('rm', ['-rf', directory()])
})
const share = () => join(directory(), 'share')
/** Deeper than a path can be long. */
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
  // One is read before the deep directory, the other after it.
  for (const name of ['a.txt', 'z.txt']) writeFileSync(join(share(), 'lobby', name), name)
})

/** How many directories called `d` lie one in the other. */
function levelsBelow(path: string): number {
  let levels = 0
  for (let at = path; readdirSync(at).includes('d'); at = join(at, 'd')) levels += 1
  return levels
}

test('a copy has what lies above the limit; the rest is told of', async () => {
  const skipped = createSkippedEntries()
  await replicate(join(share(), 'lobby'), join(directory(), 'copy'), { skipped })
  expect(readdirSync(join(directory(), 'copy')).sort()).toEqual(['a.txt', 'deep', 'z.txt'])
  expect(levelsBelow(join(directory(), 'copy/deep'))).toBe(DEPTH_LIMIT - 1)
  expect(skipped.summary()).toMatch(/^"deep\/d\/d\//)
  expect(skipped.summary()).toContain(TOO_DEEP)
})

test('a copy in which an instance went deep becomes like its source again', async () => {
  mkdirSync(join(directory(), 'used'))
  makeDeepTree(join(directory(), 'used'), LEVELS)
  await replicate(join(share(), 'lobby'), join(directory(), 'used'))
  expect(readdirSync(join(directory(), 'used')).sort()).toEqual(['a.txt', 'deep', 'z.txt'])
})

test('what is below names as long as they can be is copied, although its path is longer than a path can be', async () => {
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
  // A directory each, and the file.
  expect(await replicate(join(share(), 'long'), join(directory(), 'long'))).toBe(1)
  expect(await replicate(join(share(), 'long'), join(directory(), 'long'))).toBe(0)
})

test('§13 keep: what lies above the limit is written back; the rest is told of', async () => {
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

test('an archive is refused with a sentence that names the directory', async () => {
  await expect(files.archive(1, '/nfsshare/lobby')).rejects.toMatchObject({
    code: 'CONFLICT',
    message: expect.stringMatching(/^"lobby\/deep\/d\/d\//) as string,
  })
  await expect(files.archive(1, '/nfsshare/lobby')).rejects.toMatchObject({
    message: expect.stringContaining(TOO_DEEP) as string,
  })
  expect(readdirSync(share()).filter((name) => name.includes('lobby'))).toEqual(['lobby'])
})

test('a download has the rest, and a text that says what is missing', async () => {
  writeFileSync(join(share(), 'got.zip'), await buffer(await files.downloads.zip(['/nfsshare/lobby'])))
  await files.unarchive(1, '/nfsshare/got.zip')
  expect(readdirSync(join(share(), 'got')).sort()).toEqual(['lobby', 'not-included.txt'])
  expect(readdirSync(join(share(), 'got/lobby')).sort()).toEqual(['a.txt', 'deep', 'z.txt'])
  expect(readFileSync(join(share(), 'got/not-included.txt'), 'utf8')).toContain(TOO_DEEP)
})

test('what is packed as deep as may be is extracted again, and nothing deeper', async () => {
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

test('no directory is made so deep that no archive could hold it', async () => {
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
  '§12 a start gives away what lies above the limit, tells of what stays another’s, and a move is not held up (skipped without root)',
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
