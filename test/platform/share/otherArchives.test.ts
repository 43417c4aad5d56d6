import { createHash } from 'node:crypto'
import { readdir, readFile, readlink } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { useArchiveFiles, ANN } from '../../support/platform/archiveFiles'
import { make7z, makeRar, makeTar, makeTarGz, makeZip, renameInZip } from '../../support/platform/archives'

const { base, share, files, open, tree, put } = useArchiveFiles()

const CONTENT = { 'world/level.dat': 'level\n'.repeat(200), 'server.properties': 'motd=ü' }
const EXTRACTED = { 'backup/': '', 'backup/world/': '', ...prefixed(CONTENT) }

function prefixed(content: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(content).map(([name, text]) => [`backup/${name}`, text]))
}

/** Bytes without a pattern, which are always the same. */
function noise(length: number): Buffer {
  const blocks = Array.from({ length: Math.ceil(length / 64) }, (_, at) =>
    createHash('sha512').update(`${at}`).digest(),
  )
  return Buffer.concat(blocks).subarray(0, length)
}

/** Sets the compression method of all entries. */
function withMethod(zip: Buffer, method: number): Buffer {
  const changed = Buffer.from(zip)
  changed.writeUInt16LE(method, changed.indexOf('PK\x03\x04') + 8)
  changed.writeUInt16LE(method, changed.indexOf('PK\x01\x02') + 10)
  return changed
}

test.each<[string, string, () => Promise<Buffer> | Buffer]>([
  ...['BZip2', 'Deflate64', 'LZMA', 'PPMd', 'XZ'].map((method): [string, string, () => Promise<Buffer>] => [
    `a .zip with ${method}`,
    'zip',
    () => make7z(CONTENT, '-tzip', `-mm=${method}`),
  ]),
  [
    'a .zip behind a program that extracts it',
    'zip',
    async () => Buffer.concat([Buffer.from('MZ'), noise(5000), await makeZip(CONTENT)]),
  ],
  ['a .zip followed by zeros', 'zip', async () => Buffer.concat([await makeZip(CONTENT), Buffer.alloc(3000)])],
  ['a .zip followed by other bytes', 'zip', async () => Buffer.concat([await makeZip(CONTENT), noise(300_000)])],
  ['a .zip that is a .rar', 'zip', () => makeRar(CONTENT)],
  ['a .zip that is a .7z', 'zip', () => make7z(CONTENT)],
  ['a .tar.gz that is a .tar', 'tar.gz', () => makeTar(tarEntries())],
  ['a .tar.gz that is a .zip', 'tar.gz', () => makeZip(CONTENT)],
  ['a .tar that is a .tar.gz', 'tar', () => makeTarGz(tarEntries())],
  ['a .gz that is a .tar', 'gz', () => makeTar(tarEntries())],
])('%s is extracted', async (_what, extension, make) => {
  await put(`backup.${extension}`, await make())
  expect(await files().unarchive(ANN, `/nfsshare/backup.${extension}`)).toEqual({
    name: 'backup',
    path: '/nfsshare/backup',
  })
  const { [`backup.${extension}`]: _archive, ...rest } = await tree()
  expect(rest).toEqual(EXTRACTED)
  expect(await readdir(join(base(), 'data/temporaries'))).toEqual([])
})

function tarEntries() {
  return Object.entries(CONTENT).map(([name, content]) => ({ name, content }))
}

test('a .gz whose content begins like another archive is extracted as one file', async () => {
  await put('BZh9.gz', gzipSync('BZh91AY&SY'))
  await files().unarchive(ANN, '/nfsshare/BZh9.gz')
  expect(await readFile(join(share(), 'BZh9/BZh9'), 'utf8')).toBe('BZh91AY&SY')
})

test('links within a .zip stay links, which 7-Zip would refuse', async () => {
  await put('a.zip', await makeZip({ 'run.sh': '#!/bin/sh', go: 'run.sh' }, { go: 0o120777 }))
  await files().unarchive(ANN, '/nfsshare/a.zip')
  expect(await readlink(join(share(), 'a/go'))).toBe('run.sh')
})

test.each([
  ['tar.gz', 'bzip2', Buffer.from('BZh91AY&SY123')],
  ['tgz', 'xz', Buffer.from('fd377a585a000004', 'hex')],
  ['tar.gz', 'Zstandard', Buffer.from('28b52ffd2400', 'hex')],
  ['gz', 'xz', Buffer.from('fd377a585a000004', 'hex')],
])('the refusal of a .%s that is compressed with %s says so', async (extension, method, content) => {
  await put(`backup.${extension}`, content)
  await expect(files().unarchive(ANN, `/nfsshare/backup.${extension}`)).rejects.toMatchObject({
    code: 'UNSUPPORTED_MEDIA_TYPE',
    message: `The archive was not extracted: it is not a .${extension} file, but compressed with ${method}. Pack it again as .tar.gz, .zip or .7z.`,
  })
  expect(await readdir(share())).toEqual([`backup.${extension}`])
})

test('the refusal of a .zip with a compression method that nothing here reads names it', async () => {
  await put('backup.zip', withMethod(await makeZip({ 'song.wav': 'la' }), 97))
  await expect(files().unarchive(ANN, '/nfsshare/backup.zip')).rejects.toMatchObject({
    code: 'INVALID_INPUT',
    message:
      'The archive was not extracted: its entry "song.wav" uses the compression method 97, which is not supported: make the zip with Deflate.',
  })
  expect(await readdir(share())).toEqual(['backup.zip'])
})

test.each<[string, () => Promise<Buffer> | Buffer]>([
  ['backup.z01', () => noise(100)],
  ['backup.zip.001', () => noise(100)],
  ['backup.7z.002', () => noise(100)],
  ['backup.r00', () => noise(100)],
  ['backup.part2.rar', () => noise(100)],
  [
    'backup.zip',
    async () => {
      const zip = await makeZip(CONTENT)
      zip.writeUInt16LE(1, zip.indexOf('PK\x05\x06') + 4)
      return zip
    },
  ],
])('the refusal of a part of a split archive (%s) says what it is', async (name, make) => {
  await put(name, await make())
  await expect(files().unarchive(ANN, `/nfsshare/${name}`)).rejects.toMatchObject({
    code: 'INVALID_INPUT',
    message:
      'The archive was not extracted: it is one part of a split archive. Join its parts, or pack it again as one file.',
  })
  expect(await readdir(share())).toEqual([name])
})

/** Puts bytes before a zip, so that only 7-Zip can read it. */
const before = (zip: Buffer) => Buffer.concat([Buffer.from('MZ'), noise(100), zip])

test.each<[string, () => Promise<Buffer>]>([
  [
    'a name that leads out',
    async () => renameInZip(await makeZip({ 'aa/evil.txt': 'x' }), 'aa/evil.txt', '../evil.txt'),
  ],
  [
    'an absolute name',
    async () => renameInZip(await makeZip({ 'atmp/evil.txt': 'x' }), 'atmp/evil.txt', '/tmp/evil.txt'),
  ],
  ['a link', () => makeZip({ link: '/etc/passwd' }, { link: 0o120777 })],
  ['a name of the platform', () => makeZip({ '.quarterdeck-a.part': 'x' })],
  ['encrypted content', () => make7z({ 'a.txt': 'x' }, '-tzip', '-pgeheim')],
  ['encrypted content with another method', () => make7z(CONTENT, '-tzip', '-mm=BZip2', '-pgeheim')],
  ['half of its bytes', async () => (await makeZip(CONTENT)).subarray(0, 150)],
])(
  'security 26, 27: a .zip that 7-Zip reads and that has %s is refused, and nothing is written',
  async (_what, make) => {
    await put('bad.zip', before(await make()))
    await expect(files().unarchive(ANN, '/nfsshare/bad.zip')).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      message: expect.stringContaining('The archive was not extracted') as string,
    })
    expect(await readdir(share())).toEqual(['bad.zip'])
    expect((await readdir(base())).sort()).toEqual(['data', 'share'])
    expect(await readdir(join(base(), 'data/temporaries'))).toEqual([])
  },
)

test('a .zip that 7-Zip reads and whose content is damaged is refused', async () => {
  const zip = await make7z(CONTENT, '-tzip', '-mm=BZip2')
  zip[zip.indexOf('BZh') + 40]! ^= 0xff
  await put('bad.zip', zip)
  await expect(files().unarchive(ANN, '/nfsshare/bad.zip')).rejects.toMatchObject({
    code: 'INVALID_INPUT',
    message: 'The archive was not extracted: it is damaged, or it is not a zip file.',
  })
  expect(await readdir(share())).toEqual(['bad.zip'])
})

test('security 28: a .zip that 7-Zip reads has the limits of every other archive', async () => {
  await files().close()
  await open(() => ({ entries: 20, size: 1000 }))
  await put('large.zip', before(await makeZip({ large: 'x'.repeat(2000) })))
  const names = Array.from({ length: 30 }, (_, at) => `${at}.txt`)
  await put('many.zip', before(await makeZip(Object.fromEntries(names.map((name) => [name, 'x'])))))
  for (const name of ['large.zip', 'many.zip'])
    await expect(files().unarchive(ANN, `/nfsshare/${name}`)).rejects.toMatchObject({ code: 'TOO_LARGE' })
  expect((await readdir(share())).sort()).toEqual(['large.zip', 'many.zip'])
})
