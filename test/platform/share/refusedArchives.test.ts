import { mkdir, open as openFile, readdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import type { Extraction } from '../../../src/platform/share/archives/extraction'
import { unpackZip } from '../../../src/platform/share/archives/unpackZip'
import { useArchiveFiles, ANN } from '../../support/platform/archiveFiles'
import { make7z, make7zOf, makeRar, makeTar, makeTarGz, makeZip, renameInZip } from '../../support/platform/archives'
import { until } from '../../support/platform/until'

const { base, share, files, put } = useArchiveFiles()

/** Writes the checksum of a changed header of a tar: the sum of its bytes. */
function sumHeader(tar: Buffer): void {
  tar.fill(' ', 148, 156)
  const sum = tar.subarray(0, 512).reduce((total, byte) => total + byte, 0)
  tar.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
}

test.each<[string, string, () => Promise<Buffer>]>([
  [
    'a dot-dot name in a zip',
    'zip',
    async () => renameInZip(await makeZip({ 'aa/evil.txt': 'x', good: 'y' }), 'aa/evil.txt', '../evil.txt'),
  ],
  [
    'an absolute name in a zip',
    'zip',
    async () => renameInZip(await makeZip({ 'atmp/evil.txt': 'x' }), 'atmp/evil.txt', '/tmp/evil.txt'),
  ],
  [
    'a backslash in a zip',
    'zip',
    async () =>
      renameInZip(await makeZip({ 'aa/aa/evil.txt': 'x' }), 'aa/aa/evil.txt', '..\\..\\evil.txt'.slice(0, 14)),
  ],
  [
    'a drive in a zip',
    'zip',
    async () => renameInZip(await makeZip({ 'aa/evil.txt': 'x' }), 'aa/evil.txt', 'C:/evil.txt'),
  ],
  ['a link out of a zip', 'zip', () => makeZip({ link: '/etc/passwd' }, { link: 0o120777 })],
  ['a link that climbs out of a zip', 'zip', () => makeZip({ 'a/link': '../../out' }, { 'a/link': 0o120777 })],
  ['a dot-dot name in a tar', 'tar', () => makeTar([{ name: '../evil.txt', content: 'x' }])],
  ['a dot-dot in the middle', 'tar', () => makeTar([{ name: 'a/../../evil.txt', content: 'x' }])],
  ['a dot-dot name with a backslash in a tar', 'tar', () => makeTar([{ name: 'a/..\\..\\evil.txt', content: 'x' }])],
  ['a drive in a tar', 'tar', () => makeTar([{ name: 'C:\\evil.txt', content: 'x' }])],
  ['an absolute name in a tar', 'tar', () => makeTar([{ name: '/tmp/evil.txt', content: 'x' }])],
  [
    'a link, then a write through it',
    'tar',
    () =>
      makeTar([
        { name: 'out', type: 'symlink', linkname: '.' },
        { name: 'out/evil.txt', content: 'x' },
      ]),
  ],
  ['a link out of a tar', 'tar', () => makeTar([{ name: 'out', type: 'symlink', linkname: '../../..' }])],
  [
    'a link that climbs out over another one',
    'tar',
    () =>
      makeTar([
        { name: 'd/up', type: 'symlink', linkname: '..' },
        { name: 'out', type: 'symlink', linkname: 'd/up/../../data' },
      ]),
  ],
  [
    'a file, then a link of its name',
    'tar',
    () =>
      makeTar([
        { name: 'a', content: 'x' },
        { name: 'a', type: 'symlink', linkname: 'b' },
      ]),
  ],
  [
    'a hard link',
    'tar',
    () =>
      makeTar([
        { name: 'a', content: 'x' },
        { name: 'b', type: 'link', linkname: 'a' },
      ]),
  ],
  [
    'a chain of hard links',
    'tar',
    () =>
      makeTar([
        { name: 'a', type: 'symlink', linkname: 'b' },
        { name: 'c', type: 'link', linkname: 'a' },
      ]),
  ],
  ['a device', 'tar', () => makeTar([{ name: 'null', type: 'character-device', devmajor: 1, devminor: 3 }])],
  ['a FIFO', 'tar', () => makeTar([{ name: 'pipe', type: 'fifo' }])],
  ['a link in a 7z', '7z', () => make7z({ 'good.txt': 'x', link: '->/etc/passwd' })],
  ['a dot-dot name in a rar', 'rar', async () => makeRar({ '../evil.txt': 'x' })],
  ['an absolute name in a rar', 'rar', async () => makeRar({ '/tmp/evil.txt': 'x' })],
  ['an internal name of the platform', 'tar', () => makeTar([{ name: '.quarterdeck-a.part', content: 'x' }])],
])('security 26, 27: %s refuses the whole archive, and nothing is written', async (_what, kind, make) => {
  await put(`bad.${kind}`, await make())
  await expect(files().unarchive(ANN, `/nfsshare/bad.${kind}`)).rejects.toMatchObject({
    code: 'INVALID_INPUT',
    message: expect.stringContaining('The archive was not extracted') as string,
  })
  expect(await readdir(share())).toEqual([`bad.${kind}`])
  expect((await readdir(base())).sort()).toEqual(['data', 'share'])
  expect(await readdir(join(base(), 'data/temporaries'))).toEqual([])
})

test.each<[string, string, () => Promise<Buffer> | Buffer]>([
  ['a truncated zip', 'zip', async () => (await makeZip({ a: 'x'.repeat(5000) })).subarray(0, 60)],
  ['a file that is not a zip', 'zip', () => Buffer.from('hello')],
  [
    'a zip with a wrong checksum',
    'zip',
    async () => {
      const zip = await makeZip({ 'a.txt': 'content' })
      const at = zip.indexOf('content')
      if (at > 0) zip.write('CONTENT', at)
      else zip[40]! ^= 1
      return zip
    },
  ],
  ['a file that is not a tar', 'tar', () => Buffer.alloc(3000, 7)],
  [
    'a truncated tar.gz',
    'tar.gz',
    async () => (await makeTarGz([{ name: 'a', content: 'x'.repeat(100_000) }])).subarray(0, 60),
  ],
  ['a file that is not a gz', 'gz', () => Buffer.from('hello')],
  ['a truncated 7z', '7z', async () => (await make7z({ 'a.txt': 'x' })).subarray(0, 40)],
  ['a damaged rar', 'rar', () => Buffer.from('Rar!hello')],
])('extracting %s is refused and leaves no file', async (_what, kind, make) => {
  await put(`bad.${kind}`, await make())
  await expect(files().unarchive(ANN, `/nfsshare/bad.${kind}`)).rejects.toMatchObject({ code: 'INVALID_INPUT' })
  expect(await readdir(share())).toEqual([`bad.${kind}`])
})

test.each([
  ['path', 'a/'.repeat(40_000)],
  ['name', 'a'.repeat(80_000)],
])(
  'security 180: a .7z with a %s of 80,000 characters is refused before the platform reads it',
  async (_what, name) => {
    await put('bad.7z', make7zOf(name))
    await expect(files().unarchive(ANN, '/nfsshare/bad.7z')).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      message: 'The archive was not extracted: one of its names is too long.',
    })
    expect(await readdir(share())).toEqual(['bad.7z'])
  },
)

test.each([
  ['a line separator before a reserved name', 'a\u2028/.quarterdeck-a.part'],
  ['a paragraph separator and a name that leads out', '../a\u2029'],
  ['a carriage return and a reserved name', '.quarterdeck-a\r.part'],
  ['a carriage return and too many directories', `a\r/${'d/'.repeat(300)}f`],
])('security 202: a .7z whose name holds %s is refused', async (_what, name) => {
  await put('bad.7z', make7zOf(name))
  await expect(files().unarchive(ANN, '/nfsshare/bad.7z')).rejects.toMatchObject({
    code: 'INVALID_INPUT',
    message: expect.stringContaining('The archive was not extracted: its entry') as string,
  })
  expect(await readdir(share())).toEqual(['bad.7z'])
})

test('an empty file in a .7z is extracted', async () => {
  await put('good.7z', make7zOf('empty.txt'))
  await files().unarchive(ANN, '/nfsshare/good.7z')
  expect(await readdir(join(share(), 'good'))).toEqual(['empty.txt'])
})

test('a zip found to be damaged before its content is read is refused, and the platform survives', async () => {
  const zip = await makeZip({ 'a.txt': 'content' })
  zip[40]! ^= 1
  await put('bad.zip', zip)
  const archive = await openFile(join(share(), 'bad.zip'))
  const failures: unknown[] = []
  const late: Pick<Extraction, 'file'> = {
    async file(_path, content) {
      // Simulates a disk that is slow to create the file.
      await until(() => content.errored !== null)
      await buffer(content).catch((error: unknown) => failures.push(error))
    },
  }
  try {
    await unpackZip(
      archive,
      late as Extraction,
      { entries: 10, size: 1000 },
      { signal: new AbortController().signal, progress: () => undefined },
    )
  } finally {
    await archive.close()
  }
  expect(failures).toEqual([
    expect.objectContaining({
      code: 'INVALID_INPUT',
      message: expect.stringContaining('"a.txt" is damaged') as string,
    }),
  ])
})

test('an encrypted archive fails with a clear message', async () => {
  await put('secret.7z', await make7z({ 'a.txt': 'x' }, '-pgeheim'))
  await expect(files().unarchive(ANN, '/nfsshare/secret.7z')).rejects.toMatchObject({
    message: 'The archive was not extracted: its entry "a.txt" is encrypted.',
  })
})

test('a 7z whose names are encrypted as well is called encrypted, not damaged', async () => {
  await put('secret.7z', await make7z({ 'a.txt': 'x' }, '-pgeheim', '-mhe=on'))
  await expect(files().unarchive(ANN, '/nfsshare/secret.7z')).rejects.toMatchObject({
    message: 'The archive was not extracted: it is encrypted.',
  })
})

test('a file that is not an archive, and a directory, are refused', async () => {
  await put('notes.txt', 'x')
  await mkdir(join(share(), 'directory.zip'))
  await symlink('/etc/passwd', join(share(), 'link.zip'))
  await expect(files().unarchive(ANN, '/nfsshare/notes.txt')).rejects.toMatchObject({
    code: 'UNSUPPORTED_MEDIA_TYPE',
  })
  await expect(files().unarchive(ANN, '/nfsshare/directory.zip')).rejects.toMatchObject({ code: 'CONFLICT' })
  await expect(files().unarchive(ANN, '/nfsshare/link.zip')).rejects.toMatchObject({ code: 'CONFLICT' })
  await expect(files().unarchive(ANN, '/nfsshare/none.zip')).rejects.toMatchObject({ code: 'NOT_FOUND' })
})

test('security 28: endless headers are refused', async () => {
  await put(
    'long.tgz',
    await makeTarGz(['a', 'b'].map((name) => ({ name, content: 'x', pax: { comment: 'x'.repeat(4_000_000) } }))),
  )
  await expect(files().unarchive(ANN, '/nfsshare/long.tgz')).rejects.toMatchObject({
    code: 'INVALID_INPUT',
    message: expect.stringContaining('has a header of more than 64 KiB') as string,
  })
  const tar = await makeTar([{ name: 'a', content: 'x', pax: { abc: 'd' } }])
  const at = tar.indexOf('8 abc=d\n')
  expect(at).toBeGreaterThan(0)
  for (const record of ['-1 bc=d\n', '99 bc=d\n', '0 xbc=d\n', 'abcdefgh']) {
    tar.write(record, at)
    await put('record.tar', tar)
    await expect(files().unarchive(ANN, '/nfsshare/record.tar')).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      message: expect.stringContaining('has a header that is damaged') as string,
    })
  }
  expect((await readdir(share())).sort()).toEqual(['long.tgz', 'record.tar'])
})

test.each([
  ['file', { content: 'x' }],
  ['link', { type: 'symlink', linkname: 'b' } as const],
])(
  'security 247: a tar whose %s has a size that is no number is refused, and does not hold a place for ever',
  async (_kind, entry) => {
    const tar = await makeTar([{ name: 'a', ...entry }])
    // Neither octal digits nor the mark of a number in base 256, which is 0x80 or 0xff.
    tar.write('\x90\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff', 124, 'latin1')
    sumHeader(tar)
    await put('size.tar', tar)
    await expect(files().unarchive(ANN, '/nfsshare/size.tar')).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      message: 'The archive was not extracted: it is damaged, or it is not a tar file.',
    })
    expect(await readdir(share())).toEqual(['size.tar'])
  },
)

test.each([
  ['1.0', { 'GNU.sparse.major': '1', 'GNU.sparse.minor': '0', 'GNU.sparse.name': 'world.mca' }],
  ['0.1', { 'GNU.sparse.map': '0,1,1048576,3', 'GNU.sparse.size': '1048579', 'GNU.sparse.name': 'world.mca' }],
  ['0.0', { 'GNU.sparse.size': '1048579', 'GNU.sparse.numblocks': '2', 'GNU.sparse.offset': '0' }],
])('security 208: a file without its holes (GNU sparse format %s) is refused', async (_version, pax) => {
  await put('sparse.tar', await makeTar([{ name: 'GNUSparseFile.1/world.mca', content: '2\n0\n1\nAEND', pax }]))
  await expect(files().unarchive(ANN, '/nfsshare/sparse.tar')).rejects.toMatchObject({
    code: 'INVALID_INPUT',
    message: expect.stringContaining('"GNUSparseFile.1/world.mca" is stored without its holes') as string,
  })
  expect(await readdir(share())).toEqual(['sparse.tar'])
})

test('security 209: names that are not UTF-8 and read the same refuse a tar', async () => {
  const tar = await makeTar([
    { name: 'caf1.txt', content: 'one' },
    { name: 'caf2.txt', content: 'two' },
  ])
  // `é` and `è` in Latin-1.
  for (const [from, to] of [
    ['caf1', 'caf\xe9'],
    ['caf2', 'caf\xe8'],
  ] as const) {
    const header = tar.subarray(tar.indexOf(from), tar.indexOf(from) + 512)
    header.write(to, 0, 'latin1')
    sumHeader(header)
  }
  await put('names.tar', tar)
  await expect(files().unarchive(ANN, '/nfsshare/names.tar')).rejects.toMatchObject({
    code: 'INVALID_INPUT',
    message: expect.stringContaining('has the name of another entry') as string,
  })
  expect(await readdir(share())).toEqual(['names.tar'])
})
