import { execFile } from 'node:child_process'
import {
  mkdir,
  mkdtemp,
  open as openFile,
  readdir,
  readFile,
  readlink,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import pino from 'pino'
import type { Extraction, ExtractionLimits } from '../../../src/platform/share/archives/extraction'
import { openFiles, type Files } from '../../../src/platform/share/files'
import { unpackZip } from '../../../src/platform/share/archives/unpackZip'
import { make7z, makeRar, makeTar, makeTarGz, makeZip, renameInZip } from '../../support/platform/archives'
import { expectHeldUnder } from '../../support/platform/heldMemory'
import { until } from '../../support/platform/until'

const ANN = 1
const BOB = 2
const log = pino({ level: 'silent' })

let base: string
let share: string
let files: Files

const open = (limitsOf?: (size: number) => ExtractionLimits) =>
  openFiles({ dataDir: join(base, 'data'), shareDir: share, log, now: Date.now, ...(limitsOf && { limitsOf }) })

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'quarterdeck-archives-'))
  share = join(base, 'share')
  await mkdir(share)
  await mkdir(join(base, 'data'))
  files = await open()
})
afterEach(async () => {
  await files.close()
  await rm(base, { recursive: true, force: true })
})

/** Every path below the shared area including temporary files, with contents of files and targets of links. */
async function tree(at = share, prefix = ''): Promise<Record<string, string>> {
  const found: Record<string, string> = {}
  for (const entry of await readdir(at, { withFileTypes: true })) {
    const path = join(at, entry.name)
    if (entry.isDirectory())
      Object.assign(found, { [`${prefix}${entry.name}/`]: '' }, await tree(path, `${prefix}${entry.name}/`))
    else
      found[prefix + entry.name] = entry.isSymbolicLink() ? `->${await readlink(path)}` : await readFile(path, 'utf8')
  }
  return found
}

const put = (name: string, content: Buffer | string) => writeFile(join(share, name), content)

describe('unarchive', () => {
  test.each([
    ['zip', () => makeZip({ 'world/': '', 'world/level.dat': 'level', 'server.properties': 'motd=ü' })],
    [
      'tar',
      () =>
        makeTar([
          { name: 'world/', type: 'directory' },
          { name: 'world/level.dat', content: 'level' },
          { name: 'server.properties', content: 'motd=ü' },
        ]),
    ],
    [
      'tar.gz',
      () =>
        makeTarGz([
          { name: './world/level.dat', content: 'level' },
          { name: './server.properties', content: 'motd=ü' },
        ]),
    ],
    [
      'tgz',
      () =>
        makeTarGz([
          { name: 'world/level.dat', content: 'level' },
          { name: 'server.properties', content: 'motd=ü' },
        ]),
    ],
    ['rar', async () => makeRar({ 'world/level.dat': 'level', 'server.properties': 'motd=ü' })],
  ])('decisions §3: a .%s is extracted to a new directory named after it', async (kind, make) => {
    await put(`backup.${kind}`, await make())
    expect(await files.unarchive(ANN, `/nfsshare/backup.${kind}`)).toEqual({ name: 'backup', path: '/nfsshare/backup' })
    const { [`backup.${kind}`]: _archive, ...rest } = await tree()
    expect(rest).toEqual({
      'backup/': '',
      'backup/world/': '',
      'backup/world/level.dat': 'level',
      'backup/server.properties': 'motd=ü',
    })
  })

  test('decisions §3: a .7z and a .gz can be extracted too', async () => {
    await put('a.7z', await make7z({ 'one.txt': 'one', 'two.txt': 'two' }))
    await put('log.txt.gz', gzipSync('lines'))
    await files.unarchive(ANN, '/nfsshare/a.7z')
    await files.unarchive(ANN, '/nfsshare/log.txt.gz')
    expect(await tree()).toMatchObject({ 'a/one.txt': 'one', 'a/two.txt': 'two', 'log.txt/log.txt': 'lines' })
  })

  test('decisions §3: an existing name gets a number', async () => {
    await put('backup.zip', await makeZip({ a: '1' }))
    await put('backup', 'a file')
    expect((await files.unarchive(ANN, '/nfsshare/backup.zip')).name).toBe('backup (2)')
    expect((await files.unarchive(ANN, '/nfsshare/backup.zip')).name).toBe('backup (3)')
  })

  test('executables stay executable, times are kept, and links within the archive stay links', async () => {
    await put(
      'a.zip',
      await makeZip({ 'run.sh': '#!/bin/sh', 'bin/go': '../run.sh' }, { 'run.sh': 0o100755, 'bin/go': 0o120777 }),
    )
    await files.unarchive(ANN, '/nfsshare/a.zip')
    const { mode, mtimeMs } = await stat(join(share, 'a/run.sh'))
    expect([mode & 0o777, mtimeMs]).toEqual([0o755, Date.parse('2024-05-06T07:08:10Z')])
    expect(await readlink(join(share, 'a/bin/go'))).toBe('../run.sh')
  })

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
    await expect(files.unarchive(ANN, `/nfsshare/bad.${kind}`)).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      message: expect.stringContaining('The archive was not extracted') as string,
    })
    expect(await readdir(share)).toEqual([`bad.${kind}`])
    expect((await readdir(base)).sort()).toEqual(['data', 'share'])
    expect(await readdir(join(base, 'data/temporaries'))).toEqual([])
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
    await expect(files.unarchive(ANN, `/nfsshare/bad.${kind}`)).rejects.toMatchObject({ code: 'INVALID_INPUT' })
    expect(await readdir(share)).toEqual([`bad.${kind}`])
  })

  test('a zip found to be damaged before its content is read is refused, and the platform survives', async () => {
    const zip = await makeZip({ 'a.txt': 'content' })
    zip[40]! ^= 1
    await put('bad.zip', zip)
    const archive = await openFile(join(share, 'bad.zip'))
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
    await expect(files.unarchive(ANN, '/nfsshare/secret.7z')).rejects.toMatchObject({
      message: 'The archive was not extracted: its entry "a.txt" is encrypted.',
    })
  })

  test('security 28: a bomb gets 413, memory stays flat and the disk space is freed', async () => {
    const zeros = Buffer.alloc(2 ** 20)
    await put(
      'bomb.zip',
      await makeZip(Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`zeros${index}`, zeros]))),
    )
    await put('bomb.gz', gzipSync(Buffer.alloc(300 * 2 ** 20)))
    await expectHeldUnder(50 * 2 ** 20, async () => {
      for (const name of ['bomb.zip', 'bomb.gz']) {
        await expect(files.unarchive(ANN, `/nfsshare/${name}`)).rejects.toMatchObject({
          code: 'TOO_LARGE',
          message: 'The archive was not extracted: it would become larger than 256 MiB, 200 times its size.',
        })
      }
    })
    expect((await readdir(share)).sort()).toEqual(['bomb.gz', 'bomb.zip'])
  })

  test('security 28: a header that claims 4 GB, and too many entries, get 413 in every format', async () => {
    await files.close()
    files = await open(() => ({ entries: 20, size: 1000 }))
    const claim = await makeZip({ 'a.txt': 'small' })
    // The uncompressed size in the central directory.
    claim.writeUInt32LE(0xfffffff0, claim.indexOf('PK\x01\x02') + 24)
    await put('claim.zip', claim)
    const many = Array.from({ length: 30 }, (_, index) => `f${index}`)
    const small = Object.fromEntries(many.map((name) => [name, 'x']))
    await put('many.zip', await makeZip(small))
    await put('many.tar.gz', await makeTarGz(many.map((name) => ({ name, content: 'x' }))))
    await put('many.7z', await make7z(small))
    await put('many.rar', makeRar(small))
    await put('large.7z', await make7z({ a: 'x'.repeat(2000) }))
    await put('large.rar', makeRar({ a: 'x'.repeat(2000) }))
    await put('large.tar', await makeTar([{ name: 'a', content: 'x'.repeat(2000) }]))
    const archives = (await readdir(share)).sort()
    for (const name of archives)
      await expect(files.unarchive(ANN, `/nfsshare/${name}`)).rejects.toMatchObject({ code: 'TOO_LARGE' })
    expect((await readdir(share)).sort()).toEqual(archives)
  })

  test('security 28: endless headers are refused', async () => {
    await put(
      'long.tgz',
      await makeTarGz(['a', 'b'].map((name) => ({ name, content: 'x', pax: { comment: 'x'.repeat(4_000_000) } }))),
    )
    await expect(files.unarchive(ANN, '/nfsshare/long.tgz')).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      message: expect.stringContaining('has a header of more than 64 KiB') as string,
    })
    const tar = await makeTar([{ name: 'a', content: 'x', pax: { abc: 'd' } }])
    const at = tar.indexOf('8 abc=d\n')
    expect(at).toBeGreaterThan(0)
    for (const record of ['-1 bc=d\n', '99 bc=d\n', '0 xbc=d\n', 'abcdefgh']) {
      tar.write(record, at)
      await put('record.tar', tar)
      await expect(files.unarchive(ANN, '/nfsshare/record.tar')).rejects.toMatchObject({
        code: 'INVALID_INPUT',
        message: expect.stringContaining('has a header that is damaged') as string,
      })
    }
    expect((await readdir(share)).sort()).toEqual(['long.tgz', 'record.tar'])
  })

  test('security 28: directories that exist only in the paths of entries count as entries', async () => {
    await files.close()
    files = await open(() => ({ entries: 20, size: 1000 }))
    const deep = (top: string) => `${top}/${'d/'.repeat(12)}file`
    await put('deep.zip', await makeZip({ [deep('a')]: 'x', [deep('b')]: 'x' }))
    await put(
      'deep.tar',
      await makeTar([
        { name: deep('a'), content: 'x' },
        { name: deep('b'), content: 'x' },
      ]),
    )
    await put(
      'few.tar',
      await makeTar([
        { name: 'a/', type: 'directory' },
        { name: 'a/b/', type: 'directory' },
        ...Array.from({ length: 18 }, (_, index) => ({ name: `a/b/${index}`, content: 'x' })),
      ]),
    )
    for (const name of ['deep.zip', 'deep.tar'])
      await expect(files.unarchive(ANN, `/nfsshare/${name}`)).rejects.toMatchObject({ code: 'TOO_LARGE' })
    await files.unarchive(ANN, '/nfsshare/few.tar')
    expect((await readdir(share)).sort()).toEqual(['deep.tar', 'deep.zip', 'few', 'few.tar'])
  })

  test('an archive within an archive is extracted as an ordinary file', async () => {
    await put('outer.zip', await makeZip({ 'inner.zip': await makeZip({ a: '1' }) }))
    await files.unarchive(ANN, '/nfsshare/outer.zip')
    expect(await readdir(join(share, 'outer'))).toEqual(['inner.zip'])
  })

  test('a file that is not an archive, and a directory, are refused', async () => {
    await put('notes.txt', 'x')
    await mkdir(join(share, 'directory.zip'))
    await symlink('/etc/passwd', join(share, 'link.zip'))
    await expect(files.unarchive(ANN, '/nfsshare/notes.txt')).rejects.toMatchObject({ code: 'UNSUPPORTED_MEDIA_TYPE' })
    await expect(files.unarchive(ANN, '/nfsshare/directory.zip')).rejects.toMatchObject({ code: 'CONFLICT' })
    await expect(files.unarchive(ANN, '/nfsshare/link.zip')).rejects.toMatchObject({ code: 'CONFLICT' })
    await expect(files.unarchive(ANN, '/nfsshare/none.zip')).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  test('security 30: files half-extracted by a killed platform are never listed, and the next start removes them', async () => {
    await files.close()
    // The state at the moment of the kill: a journal entry and an incomplete tree.
    const id = '01234567-89ab-4cde-8f01-23456789abcd'
    await mkdir(join(share, `lobby/.quarterdeck-${id}.part/world`), { recursive: true })
    await writeFile(join(share, `lobby/.quarterdeck-${id}.part/world/half`), 'ha')
    await writeFile(join(base, 'data/temporaries', id), join(share, `lobby/.quarterdeck-${id}.part`))
    files = await open()
    expect(await readdir(join(share, 'lobby'))).toEqual([])
    expect(await readdir(join(base, 'data/temporaries'))).toEqual([])
  })
})

describe('archive', () => {
  beforeEach(async () => {
    await mkdir(join(share, 'world/region'), { recursive: true })
    await put('world/level.dat', 'level')
    await put('world/region/r.0.0.mca', 'x'.repeat(3_000_000))
    await put('ops.json', '[]')
  })

  /** Listed by the system's tar, which is independent of ours. */
  const listed = async (name: string) =>
    (await promisify(execFile)('tar', ['-tzf', join(share, name)])).stdout.trim().split('\n').sort()

  test('decisions §3: one item becomes <name>.tar.gz beside it, with a number if that name exists', async () => {
    expect(await files.archive(ANN, '/nfsshare/world')).toEqual({
      name: 'world.tar.gz',
      path: '/nfsshare/world.tar.gz',
    })
    expect(await files.archive(ANN, '/nfsshare/world')).toEqual({
      name: 'world (2).tar.gz',
      path: '/nfsshare/world (2).tar.gz',
    })
    expect(await listed('world.tar.gz')).toEqual([
      'world/',
      'world/level.dat',
      'world/region/',
      'world/region/r.0.0.mca',
    ])
  })

  test('decisions §3: several items become archive-<YYYYMMDD-HHmmss>.tar.gz', async () => {
    const { name } = await files.archiveSeveral(ANN, ['/nfsshare/world', '/nfsshare/ops.json'])
    expect(name).toMatch(/^archive-\d{8}-\d{6}\.tar\.gz$/)
    expect(await listed(name)).toContain('ops.json')
    await mkdir(join(share, 'other'))
    await put('other/x', '')
    await expect(files.archiveSeveral(ANN, ['/nfsshare/world', '/nfsshare/other/x'])).rejects.toMatchObject({
      code: 'INVALID_INPUT',
    })
  })

  test('extracting an archive restores what was packed', async () => {
    await symlink('level.dat', join(share, 'world/link'))
    const before = await tree()
    await files.archive(ANN, '/nfsshare/world')
    await files.unarchive(ANN, '/nfsshare/world.tar.gz')
    const after = await tree()
    for (const [path, content] of Object.entries(before))
      if (path.startsWith('world/')) expect([path, after[`world (2)/${path}`]]).toEqual([path, content])
  })

  test('a name in a legacy encoding is packed as the text it stood for', async () => {
    await mkdir(join(share, 'old'))
    await writeFile(
      Buffer.concat([Buffer.from(join(share, 'old/k')), Buffer.from([0xe4]), Buffer.from('se.txt')]),
      'cheese',
    )
    await files.archive(ANN, '/nfsshare/old')
    await files.unarchive(ANN, '/nfsshare/old.tar.gz')
    expect(await readFile(join(share, 'old (2)/old/käse.txt'), 'utf8')).toBe('cheese')
  })

  test('security 29: a link that leads out and a FIFO are left out', async () => {
    await symlink('/etc/passwd', join(share, 'world/outward'))
    await symlink('../ops.json', join(share, 'world/beside'))
    await promisify(execFile)('mkfifo', [join(share, 'world/pipe')])
    await files.archive(ANN, '/nfsshare/world')
    expect(await listed('world.tar.gz')).toEqual([
      'world/',
      'world/level.dat',
      'world/region/',
      'world/region/r.0.0.mca',
    ])
  })

  test('an archive without any of the requested files is refused, and no file is created', async () => {
    await symlink('/etc/passwd', join(share, 'outward'))
    await symlink('nowhere', join(share, 'dangling'))
    await promisify(execFile)('mkfifo', [join(share, 'pipe')])
    const before = (await readdir(share)).sort()
    await expect(files.archive(ANN, '/nfsshare/outward')).rejects.toMatchObject({
      code: 'CONFLICT',
      message:
        'There is nothing to pack: /nfsshare/outward is neither a file nor a directory. Links are packed only with the directory that they are in.',
    })
    await expect(files.archiveSeveral(ANN, ['/nfsshare/dangling', '/nfsshare/pipe'])).rejects.toMatchObject({
      code: 'CONFLICT',
      message:
        'There is nothing to pack: none of these 2 is a file or a directory. Links are packed only with the directory that they are in.',
    })
    expect((await readdir(share)).sort()).toEqual(before)
    // The remaining items are packed.
    const { name } = await files.archiveSeveral(ANN, ['/nfsshare/dangling', '/nfsshare/ops.json'])
    expect(await listed(name)).toEqual(['ops.json'])
    await mkdir(join(share, 'hollow'))
    await files.archive(ANN, '/nfsshare/hollow')
    expect(await listed('hollow.tar.gz')).toEqual(['hollow/'])
  })

  test('a job reports its progress to its user, and other users can neither see nor cancel it', async () => {
    await put('large.bin', '')
    await promisify(execFile)('truncate', ['-s', '2G', join(share, 'large.bin')])
    const packing = files.archive(ANN, '/nfsshare/large.bin')
    const [job] = await until(
      () => files.jobs.of(ANN),
      ([first]) => (first?.done ?? 0) > 0,
    )
    expect(job).toMatchObject({
      kind: 'archive',
      paths: ['/nfsshare/large.bin'],
      total: 2 * 2 ** 30,
      entry: 'large.bin',
    })
    expect(files.jobs.of(BOB)).toEqual([])
    expect(() => files.jobs.cancel(BOB, job!.id)).toThrow('There is no such job')
    files.jobs.cancel(ANN, job!.id)
    await expect(packing).rejects.toMatchObject({ code: 'CANCELLED', message: 'The archive was cancelled.' })
    expect(files.jobs.of(ANN)).toEqual([])
    expect((await readdir(share)).sort()).toEqual(['large.bin', 'ops.json', 'world'])
  })

  // An unhandled error, which would end the platform, fails this whole test file.
  test('cancelling an archive at any point ends only that archive', async () => {
    await put('large.bin', '')
    await promisify(execFile)('truncate', ['-s', '2G', join(share, 'large.bin')])
    for (let round = 1; round <= 8; round += 1) {
      const packing = files.archive(ANN, '/nfsshare/large.bin')
      packing.catch(() => undefined)
      const [job] = await until(
        () => files.jobs.of(ANN),
        ([first]) => (first?.done ?? 0) > round * 2 ** 20,
      )
      files.jobs.cancel(ANN, job!.id)
      await expect(packing).rejects.toMatchObject({ code: 'CANCELLED' })
    }
  })

  test('an extraction can be cancelled too, and the platform ends running jobs when it stops', async () => {
    await put('zeros.gz', gzipSync(Buffer.alloc(200 * 2 ** 20)))
    const unpacking = files.unarchive(ANN, '/nfsshare/zeros.gz')
    const [job] = await until(
      () => files.jobs.of(ANN),
      (jobs) => jobs.length > 0,
    )
    files.jobs.cancel(ANN, job!.id)
    await expect(unpacking).rejects.toMatchObject({ code: 'CANCELLED', message: 'The unarchive was cancelled.' })
    const again = files.unarchive(ANN, '/nfsshare/zeros.gz')
    again.catch(() => undefined)
    await until(() => files.jobs.of(ANN).length > 0)
    await files.close()
    await expect(again).rejects.toMatchObject({ code: 'UNAVAILABLE' })
    expect((await readdir(share)).sort()).toEqual(['ops.json', 'world', 'zeros.gz'])
  })

  test('a job can be cancelled at any moment and leaves no file', async () => {
    const content = Object.fromEntries(
      Array.from({ length: 12 }, (_, index) => [`dir${index}/file`, String(index).repeat(60_000)]),
    )
    await put('a.zip', await makeZip(content))
    await put('b.tar.gz', await makeTarGz(Object.entries(content).map(([name, text]) => ({ name, content: text }))))
    await put('c.gz', gzipSync(Buffer.alloc(3_000_000, 'abc')))
    const present = (await readdir(share)).sort()
    const jobs: (() => Promise<{ name: string }>)[] = [
      () => files.archive(ANN, '/nfsshare/world'),
      () => files.unarchive(ANN, '/nfsshare/a.zip'),
      () => files.unarchive(ANN, '/nfsshare/b.tar.gz'),
      () => files.unarchive(ANN, '/nfsshare/c.gz'),
    ]
    let cancelled = 0
    for (let round = 0; round < 160; round += 1) {
      const begin = jobs[round % jobs.length]!
      const working = begin().then(
        ({ name }) => ({ name, message: '' }),
        ({ message }: Error) => ({ name: undefined, message }),
      )
      for (let turn = 0; turn < round; turn += 1) await new Promise((resolve) => setImmediate(resolve))
      for (const { id } of files.jobs.of(ANN)) files.jobs.cancel(ANN, id)
      const { name, message } = await working
      if (name === undefined) cancelled += 1
      else await rm(join(share, name), { recursive: true })
      expect(['', 'The archive was cancelled.', 'The unarchive was cancelled.']).toContain(message)
      expect([round, (await readdir(share)).sort()]).toEqual([round, present])
    }
    expect(cancelled).toBeGreaterThan(0)
  })

  test('security 124: a very long file of which nearly nothing is stored is not packed, and the reason names it', async () => {
    await put('world/hole', '')
    await promisify(execFile)('truncate', ['-s', '100G', join(share, 'world/hole')])
    await expect(files.archive(ANN, '/nfsshare/world')).rejects.toMatchObject({
      code: 'TOO_LARGE',
      message: expect.stringContaining('"world/hole" is 100 GiB long and nearly empty') as string,
    })
    expect((await readdir(share)).sort()).toEqual(['ops.json', 'world'])
  })

  test('a file that shrinks or disappears during packing leaves a readable archive', async () => {
    await put('world/log.txt', 'x'.repeat(5_000_000))
    const packing = files.archive(ANN, '/nfsshare/world')
    await promisify(execFile)('truncate', ['-s', '10', join(share, 'world/log.txt')])
    await rm(join(share, 'world/level.dat'))
    const { name } = await packing
    expect(await listed(name)).toContain('world/log.txt')
  })
})
