import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { link, mkdir, mkdtemp, readdir, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { gunzipSync } from 'node:zlib'
import pino from 'pino'
import type { FilesResponse } from '../../../src/contract/file'
import { openFiles, type Files } from '../../../src/platform/share/files'
import { replicate } from '../../../src/platform/share/replicas/replicate'
import { makeZip } from '../../support/platform/archives'

let base: string
let share: string
let files: Files

beforeEach(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), 'quarterdeck-jail-')))
  share = join(base, 'share')
  await mkdir(share)
  await mkdir(join(base, 'data'))
  await mkdir(join(base, 'share-evil'))
  await mkdir(join(base, 'outside'))
  await writeFile(join(base, 'outside/secret.txt'), 'secret')
  await writeFile(join(base, 'share-evil/secret.txt'), 'secret')
  files = await openFiles({
    dataDir: join(base, 'data'),
    shareDir: share,
    log: pino({ level: 'silent' }),
    now: Date.now,
  })
})
afterEach(async () => {
  await files.close()
  await rm(base, { recursive: true, force: true })
})

async function upload(path: string, name: string): Promise<void> {
  const sent = files.upload()
  await sent.receive(name, Readable.from([Buffer.from('mine')]), path)
  await sent.store(path, 'replace')
}

async function downloaded(path: string): Promise<string> {
  const file = await files.downloads.file(path)
  return (await buffer(file.stream(0, file.size - 1))).toString()
}

/** Every verb, as a function of the path. */
const verbs: [verb: string, use: (path: string) => Promise<unknown>][] = [
  ['list', async (path) => (await files.listing.list(path, null)).body.toString()],
  ['read', (path) => files.textFiles.read(path)],
  ['save', (path) => files.textFiles.save({ path, content: 'mine' })],
  ['create file', (path) => files.changes.createFile(path)],
  ['create directory', (path) => files.changes.createDirectory(path)],
  ['move from', (path) => files.changes.move(path, '/nfsshare/moved')],
  ['move to', (path) => files.changes.move('/nfsshare/mine.txt', path)],
  ['delete file', (path) => files.changes.removeFile(path)],
  ['delete directory', (path) => files.changes.removeDirectory(path)],
  ['upload', (path) => upload(path, 'a.txt')],
  ['download', downloaded],
  ['download several', async (path) => (await buffer(await files.downloads.zip(1, [path]))).toString('latin1')],
  ['archive', (path) => files.archive(1, path)],
  ['archive several', (path) => files.archiveSeveral(1, [path, '/nfsshare/mine.txt'])],
  ['unarchive', (path) => files.unarchive(1, path)],
]

const outside = async () => [
  await readdir(join(base, 'outside')),
  await readFile(join(base, 'outside/secret.txt'), 'utf8'),
  await readdir(join(base, 'share-evil')),
  (await readdir(base)).sort(),
]
const untouched = [['secret.txt'], 'secret', ['secret.txt'], ['data', 'outside', 'share', 'share-evil']]

const BAD_PATHS = [
  '/nfsshare/../outside/secret.txt',
  '/nfsshare/a/../../outside/secret.txt',
  '/nfsshare/%2e%2e/outside/secret.txt',
  '/nfsshare/%252e%252e/outside/secret.txt',
  '/nfsshare/..\\outside\\secret.txt',
  '/nfsshare/..%5coutside',
  '/nfsshare/%2e%2e%2foutside',
  '/nfsshare/secret.txt\0.png',
  '/nfsshare/half-a-character-\ud800',
  '/nfsshare//secret.txt',
  '/nfsshare-evil/secret.txt',
  '/nfsshare/./secret.txt',
  '/etc/passwd',
  'nfsshare/secret.txt',
  '',
  `/nfsshare/${'x'.repeat(256)}`,
]

test.each(verbs)('security 16: %s refuses every ambiguous path, and the disk stays unchanged', async (_verb, use) => {
  await writeFile(join(share, 'mine.txt'), 'mine')
  for (const path of BAD_PATHS) {
    const failure = await use(path).catch((error: unknown) => error)
    expect([path, failure]).toEqual([path, expect.objectContaining({ code: 'INVALID_INPUT' })])
  }
  expect(await outside()).toEqual(untouched)
  expect(await readdir(share)).toEqual(['mine.txt'])
})

test.each(verbs)(
  'security 17: %s through a link that leads out, as leaf or on the way, reads and changes nothing outside',
  async (_verb, use) => {
    const links = {
      directory: join(base, 'outside'),
      'leaf.zip': '../outside/secret.txt',
      'dangling.zip': join(base, 'outside/none'),
    }
    await writeFile(join(share, 'mine.txt'), 'mine')
    for (const path of [
      'directory',
      'directory/secret.txt',
      'directory/new',
      'leaf.zip',
      'dangling.zip',
      'dangling.zip/new',
    ]) {
      // A verb may act on the link itself (delete, move), so all links are restored for the next one.
      for (const [name, target] of Object.entries(links)) {
        await rm(join(share, name), { force: true, recursive: true })
        await symlink(target, join(share, name))
      }
      const seen = await use(`/nfsshare/${path}`).catch(() => undefined)
      // The zip of a link is empty; a listing that got there would contain the secret's name.
      expect([path, JSON.stringify(seen) ?? '']).toEqual([path, expect.not.stringContaining('secret')])
      expect([path, await outside()]).toEqual([path, untouched])
    }
    expect((await contentsBelow(share)).filter((content) => content.includes('secret'))).toEqual([])
  },
)

test.each(verbs)(
  'security 17: %s through a link to the platform’s own files, as leaf or on the way, does not reach them',
  async (_verb, use) => {
    const marker = join(share, '.quarterdeck-share')
    const unfinished = join(share, '.quarterdeck-1.part')
    const links = {
      'marker.zip': '.quarterdeck-share',
      below: '.quarterdeck-1.part',
      'way.zip': 'below/of-an-archive.txt',
    }
    await mkdir(unfinished)
    await writeFile(join(share, 'mine.txt'), 'mine')
    const own = async () => [
      await readFile(marker, 'utf8'),
      await readdir(unfinished),
      await readFile(join(unfinished, 'of-an-archive.txt'), 'utf8'),
    ]
    for (const path of ['marker.zip', 'below', 'below/of-an-archive.txt', 'below/new', 'way.zip']) {
      // A verb may act on the link itself (delete, move), so all links are restored for the next one.
      for (const [name, target] of Object.entries(links)) {
        await rm(join(share, name), { force: true, recursive: true })
        await symlink(target, join(share, name))
      }
      await writeFile(marker, 'secret')
      await writeFile(join(unfinished, 'of-an-archive.txt'), 'secret')
      const seen = await use(`/nfsshare/${path}`).catch(() => undefined)
      expect([path, JSON.stringify(seen) ?? '']).toEqual([path, expect.not.stringMatching(/secret|of-an-archive/)])
      expect([path, await own()]).toEqual([path, ['secret', ['of-an-archive.txt'], 'secret']])
    }
    for (const path of await filesBelow(share)) {
      if (path.endsWith('.tar.gz'))
        expect([path, gunzipSync(await readFile(path)).includes('secret')]).toEqual([path, false])
    }
  },
)

test('security 17: a save through a link to the marker of the shared area is refused with a clear message', async () => {
  await writeFile(join(share, '.quarterdeck-share'), '')
  await symlink('.quarterdeck-share', join(share, 'link.txt'))
  await expect(files.textFiles.save({ path: '/nfsshare/link.txt', content: 'mine' })).rejects.toMatchObject({
    code: 'NOT_ALLOWED',
    message: '/nfsshare/link.txt leads to a file of the platform itself.',
  })
})

/** Does not follow links. */
async function filesBelow(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { withFileTypes: true, recursive: true })
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
}
const contentsBelow = async (directory: string) =>
  Promise.all((await filesBelow(directory)).map((path) => readFile(path, 'latin1')))

test('links that stay inside work, even absolute ones', async () => {
  await mkdir(join(share, 'real'))
  await writeFile(join(share, 'real/a.txt'), 'a')
  await symlink(join(share, 'real'), join(share, 'absolute'))
  await symlink('real', join(share, 'relative'))
  expect((await files.textFiles.read('/nfsshare/absolute/a.txt')).content).toBe('a')
  await files.textFiles.save({ path: '/nfsshare/relative/a.txt', content: 'b' })
  expect(await readFile(join(share, 'real/a.txt'), 'utf8')).toBe('b')
})

test('deleting a link, or a tree that contains one, keeps its target', async () => {
  await mkdir(join(share, 'tree'))
  await symlink(join(base, 'outside'), join(share, 'tree/out'))
  await symlink(join(base, 'outside'), join(share, 'out'))
  await files.changes.removeFile('/nfsshare/out')
  await files.changes.removeDirectory('/nfsshare/tree')
  expect(await outside()).toEqual(untouched)
  expect(await readdir(share)).toEqual([])
})

test('a missing shared area is reported, and used when it exists', async () => {
  await rm(share, { recursive: true })
  await expect(files.listing.list('/nfsshare', null)).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    message: expect.stringContaining('QUARTERDECK_SHARE_DIR') as string,
  })
  await mkdir(share)
  const { body } = await files.listing.list('/nfsshare', null)
  expect((JSON.parse(body.toString()) as FilesResponse).data.files).toEqual([])
})

test('a hard link is an ordinary file, because only a user who can read the file can link it', async () => {
  await writeFile(join(share, 'a'), 'a')
  await link(join(share, 'a'), join(share, 'b'))
  expect((await files.textFiles.read('/nfsshare/b')).content).toBe('a')
})

/** Each of these must be created at least once between the swaps. */
const MADE = [/^sub\.tar\.gz$/, /^archive-/, /^a$/]

/** Swaps a directory of the share for a link to one outside, as fast as possible. */
const SWAPPER = `
  const { renameSync, symlinkSync } = require('node:fs')
  const [share, outside] = process.argv.slice(2)
  process.chdir(share)
  symlinkSync(outside, 'link')
  process.on('disconnect', () => process.exit())
  // The test has heard enough and hung up.
  process.on('error', () => process.exit())
  let swaps = 0
  const swap = () => {
    for (let round = 0; round < 50; round += 1) {
      try {
        renameSync('target', 'aside'); renameSync('link', 'target')
        renameSync('target', 'link'); renameSync('aside', 'target')
      } catch (error) { process.send(String(error)) }
      swaps += 2
    }
    process.send(swaps)
    setImmediate(swap)
  }
  swap()
`

test('security 17: ten thousand swaps of a directory for a link, under every verb, never escape', async () => {
  for (const [at, content] of [
    [join(share, 'target'), 'inside'],
    [join(base, 'outside'), 'secret'],
  ] as const) {
    // Both sides have the same names, so that only the contents tell which side was used.
    await mkdir(join(at, 'sub'), { recursive: true })
    await writeFile(join(at, 'file.txt'), content)
    await writeFile(join(at, 'sub/kept.txt'), content)
  }
  for (const at of ['share/target', 'outside'])
    await writeFile(join(base, at, 'a.zip'), await makeZip({ file: at === 'outside' ? 'secret' : 'inside' }))
  const before = (await readdir(join(base, 'outside'), { recursive: true })).sort()
  const program = join(base, 'data/swapper.js')
  await writeFile(program, SWAPPER)
  const swapper: ChildProcess = fork(program, [share, join(base, 'outside')], { execArgv: [] })
  let swaps = 0
  swapper.on('message', (count) => (swaps = Number(count)))
  const seen: string[] = []
  /** Names of created archives and extracted directories. */
  const made = new Set<string>()
  const replicated = async (from: string, to: string, name: string) => {
    await replicate(from, join(base, to))
    return readFile(join(base, to, name), 'utf8')
  }
  const attempts: (() => Promise<string | void>)[] = [
    async () => (await files.textFiles.read('/nfsshare/target/file.txt')).content,
    async () => (await files.listing.list('/nfsshare/target', null)).body.toString(),
    async () => void (await files.textFiles.save({ path: '/nfsshare/target/file.txt', content: 'inside' })),
    // Recreates what other verbs remove.
    () => files.changes.createDirectory('/nfsshare/target/sub'),
    async () => void (await files.textFiles.save({ path: '/nfsshare/target/sub/kept.txt', content: 'inside' })),
    async () => void (await files.textFiles.save({ path: '/nfsshare/mine.txt', content: 'mine' })),
    () => files.changes.move('/nfsshare/mine.txt', `/nfsshare/target/moved-${Math.random()}`),
    async () => void made.add((await files.archive(1, '/nfsshare/target/sub')).name),
    async () => void made.add((await files.archiveSeveral(1, ['/nfsshare/target/sub', '/nfsshare/target/a.zip'])).name),
    async () => void made.add((await files.unarchive(1, '/nfsshare/target/a.zip')).name),
    () => files.changes.createFile(`/nfsshare/target/new-${Math.random()}`),
    () => files.changes.createDirectory(`/nfsshare/target/sub/new-${Math.random()}`),
    () => upload('/nfsshare/target', 'uploaded.txt'),
    () => files.changes.removeFile('/nfsshare/target/sub/kept.txt'),
    () => files.changes.move('/nfsshare/target/file.txt', `/nfsshare/target/moved-${Math.random()}`),
    async () => (await buffer(await files.downloads.zip(1, ['/nfsshare/target/sub']))).toString('latin1'),
    () => downloaded('/nfsshare/target/file.txt'),
    () => files.changes.removeDirectory('/nfsshare/target/sub'),
    () => replicated(share, 'copy', 'target/file.txt'),
    () => replicated(join(share, 'target'), 'copy-of-target', 'file.txt'),
  ]
  try {
    for (
      let round = 0;
      swaps < 10_000 || round < 400 || !MADE.every((name) => [...made].some((one) => name.test(one)));
      round += 1
    ) {
      const result = await attempts[round % attempts.length]!().catch(() => undefined)
      if (result !== undefined) seen.push(result)
    }
  } finally {
    swapper.disconnect()
    await once(swapper, 'exit')
  }
  expect(seen.length).toBeGreaterThan(0)
  expect(seen.filter((content) => content.includes('secret'))).toEqual([])
  expect((await readdir(join(base, 'outside'), { recursive: true })).sort()).toEqual(before)
  expect(await readFile(join(base, 'outside/file.txt'), 'utf8')).toBe('secret')
  // Archives and extracted files also come from the inside only.
  for (const path of await filesBelow(share))
    if (path.endsWith('.tar.gz'))
      expect([path, gunzipSync(await readFile(path)).includes('secret')]).toEqual([path, false])
  expect((await contentsBelow(share)).filter((content) => content.includes('secret'))).toEqual([])
})
