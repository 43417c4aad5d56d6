import { execFile } from 'node:child_process'
import { chmod, mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { useArchiveFiles, ANN, BOB } from '../../support/platform/archiveFiles'
import { makeTarGz, makeZip } from '../../support/platform/archives'
import { until } from '../../support/platform/until'

const { share, files, tree, put } = useArchiveFiles()

describe('archive', () => {
  beforeEach(async () => {
    await mkdir(join(share(), 'world/region'), { recursive: true })
    await put('world/level.dat', 'level')
    await put('world/region/r.0.0.mca', 'x'.repeat(3_000_000))
    await put('ops.json', '[]')
  })

  /** Listed by the system's tar, which is independent of ours. */
  const listed = async (name: string) =>
    (await promisify(execFile)('tar', ['-tzf', join(share(), name)])).stdout.trim().split('\n').sort()

  test('decisions §3: one item becomes <name>.tar.gz beside it, with a number if that name exists', async () => {
    expect(await files().archive(ANN, '/nfsshare/world')).toEqual({
      name: 'world.tar.gz',
      path: '/nfsshare/world.tar.gz',
    })
    expect(await files().archive(ANN, '/nfsshare/world')).toEqual({
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
    const { name } = await files().archiveSeveral(ANN, ['/nfsshare/world', '/nfsshare/ops.json'])
    expect(name).toMatch(/^archive-\d{8}-\d{6}\.tar\.gz$/)
    expect(await listed(name)).toContain('ops.json')
    await mkdir(join(share(), 'other'))
    await put('other/x', '')
    await expect(files().archiveSeveral(ANN, ['/nfsshare/world', '/nfsshare/other/x'])).rejects.toMatchObject({
      code: 'INVALID_INPUT',
    })
  })

  test('extracting an archive restores what was packed', async () => {
    await symlink('level.dat', join(share(), 'world/link'))
    const before = await tree()
    await files().archive(ANN, '/nfsshare/world')
    await files().unarchive(ANN, '/nfsshare/world.tar.gz')
    const after = await tree()
    for (const [path, content] of Object.entries(before))
      if (path.startsWith('world/')) expect([path, after[`world (2)/${path}`]]).toEqual([path, content])
  })

  test('names that mean something else on Windows are packed and extracted like any other', async () => {
    await mkdir(join(share(), 'odd/c:'), { recursive: true })
    const names = ['odd/back\\slash.txt', 'odd/c:/x', 'a: b.txt', '\\ b\\']
    for (const name of names) await put(name, 'content')
    const { name } = await files().archiveSeveral(ANN, ['/nfsshare/odd', '/nfsshare/a: b.txt', '/nfsshare/\\ b\\'])
    await files().unarchive(ANN, `/nfsshare/${name}`)
    expect(Object.keys(await tree())).toEqual(
      expect.arrayContaining(names.map((packed) => `${name.replace('.tar.gz', '')}/${packed}`)),
    )
  })

  test('a name in a legacy encoding is packed as the text it stood for', async () => {
    await mkdir(join(share(), 'old'))
    await writeFile(
      Buffer.concat([Buffer.from(join(share(), 'old/k')), Buffer.from([0xe4]), Buffer.from('se.txt')]),
      'cheese',
    )
    await files().archive(ANN, '/nfsshare/old')
    await files().unarchive(ANN, '/nfsshare/old.tar.gz')
    expect(await readFile(join(share(), 'old (2)/old/käse.txt'), 'utf8')).toBe('cheese')
  })

  test('security 29: a link that leads out and a FIFO are left out', async () => {
    await symlink('/etc/passwd', join(share(), 'world/outward'))
    await symlink('../ops.json', join(share(), 'world/beside'))
    await promisify(execFile)('mkfifo', [join(share(), 'world/pipe')])
    await files().archive(ANN, '/nfsshare/world')
    expect(await listed('world.tar.gz')).toEqual([
      'world/',
      'world/level.dat',
      'world/region/',
      'world/region/r.0.0.mca',
    ])
  })

  test('security 146: an archive gives no program the rights of whoever extracts it', async () => {
    await chmod(join(share(), 'world/level.dat'), 0o6755)
    await files().archive(ANN, '/nfsshare/world')
    const { stdout } = await promisify(execFile)('tar', ['-tvzf', join(share(), 'world.tar.gz')])
    expect(stdout).toMatch(/^-rwxr-xr-x .* world\/level\.dat$/m)
  })

  test('an archive without any of the requested files is refused, and no file is created', async () => {
    await symlink('/etc/passwd', join(share(), 'outward'))
    await symlink('nowhere', join(share(), 'dangling'))
    await promisify(execFile)('mkfifo', [join(share(), 'pipe')])
    const before = (await readdir(share())).sort()
    await expect(files().archive(ANN, '/nfsshare/outward')).rejects.toMatchObject({
      code: 'CONFLICT',
      message:
        'There is nothing to pack: /nfsshare/outward is neither a file nor a directory. Links are packed only with the directory that they are in.',
    })
    await expect(files().archiveSeveral(ANN, ['/nfsshare/dangling', '/nfsshare/pipe'])).rejects.toMatchObject({
      code: 'CONFLICT',
      message:
        'There is nothing to pack: none of these 2 is a file or a directory. Links are packed only with the directory that they are in.',
    })
    expect((await readdir(share())).sort()).toEqual(before)
    // The remaining items are packed.
    const { name } = await files().archiveSeveral(ANN, ['/nfsshare/dangling', '/nfsshare/ops.json'])
    expect(await listed(name)).toEqual(['ops.json'])
    await mkdir(join(share(), 'hollow'))
    await files().archive(ANN, '/nfsshare/hollow')
    expect(await listed('hollow.tar.gz')).toEqual(['hollow/'])
  })

  test('a job reports its progress to its user, and other users can neither see nor cancel it', async () => {
    await put('large.bin', '')
    await promisify(execFile)('truncate', ['-s', '2G', join(share(), 'large.bin')])
    const packing = files().archive(ANN, '/nfsshare/large.bin')
    const [job] = await until(
      () => files().jobs.of(ANN),
      ([first]) => (first?.done ?? 0) > 0,
    )
    expect(job).toMatchObject({
      kind: 'archive',
      paths: ['/nfsshare/large.bin'],
      total: 2 * 2 ** 30,
      entry: 'large.bin',
    })
    expect(files().jobs.of(BOB)).toEqual([])
    expect(() => files().jobs.cancel(BOB, job!.id)).toThrow('There is no such job')
    files().jobs.cancel(ANN, job!.id)
    await expect(packing).rejects.toMatchObject({ code: 'CANCELLED', message: 'The archive was cancelled.' })
    expect(files().jobs.of(ANN)).toEqual([])
    expect((await readdir(share())).sort()).toEqual(['large.bin', 'ops.json', 'world'])
  })

  // An unhandled error, which would end the platform, fails this whole test file.
  test('cancelling an archive at any point ends only that archive', async () => {
    await put('large.bin', '')
    await promisify(execFile)('truncate', ['-s', '2G', join(share(), 'large.bin')])
    for (let round = 1; round <= 8; round += 1) {
      const packing = files().archive(ANN, '/nfsshare/large.bin')
      packing.catch(() => undefined)
      const [job] = await until(
        () => files().jobs.of(ANN),
        ([first]) => (first?.done ?? 0) > round * 2 ** 20,
      )
      files().jobs.cancel(ANN, job!.id)
      await expect(packing).rejects.toMatchObject({ code: 'CANCELLED' })
    }
  })

  test('an extraction can be cancelled too, and the platform ends running jobs when it stops', async () => {
    await put('zeros.gz', gzipSync(Buffer.alloc(200 * 2 ** 20)))
    const unpacking = files().unarchive(ANN, '/nfsshare/zeros.gz')
    const [job] = await until(
      () => files().jobs.of(ANN),
      (jobs) => jobs.length > 0,
    )
    files().jobs.cancel(ANN, job!.id)
    await expect(unpacking).rejects.toMatchObject({ code: 'CANCELLED', message: 'The unarchive was cancelled.' })
    const again = files().unarchive(ANN, '/nfsshare/zeros.gz')
    again.catch(() => undefined)
    await until(() => files().jobs.of(ANN).length > 0)
    await files().close()
    await expect(again).rejects.toMatchObject({ code: 'UNAVAILABLE' })
    expect((await readdir(share())).sort()).toEqual(['ops.json', 'world', 'zeros.gz'])
  })

  test('a job can be cancelled at any moment and leaves no file', async () => {
    const content = Object.fromEntries(
      Array.from({ length: 12 }, (_, index) => [`dir${index}/file`, String(index).repeat(60_000)]),
    )
    await put('a.zip', await makeZip(content))
    await put('b.tar.gz', await makeTarGz(Object.entries(content).map(([name, text]) => ({ name, content: text }))))
    await put('c.gz', gzipSync(Buffer.alloc(3_000_000, 'abc')))
    const present = (await readdir(share())).sort()
    const jobs: (() => Promise<{ name: string }>)[] = [
      () => files().archive(ANN, '/nfsshare/world'),
      () => files().unarchive(ANN, '/nfsshare/a.zip'),
      () => files().unarchive(ANN, '/nfsshare/b.tar.gz'),
      () => files().unarchive(ANN, '/nfsshare/c.gz'),
    ]
    let cancelled = 0
    for (let round = 0; round < 160; round += 1) {
      const begin = jobs[round % jobs.length]!
      const working = begin().then(
        ({ name }) => ({ name, message: '' }),
        ({ message }: Error) => ({ name: undefined, message }),
      )
      for (let turn = 0; turn < round; turn += 1) await new Promise((resolve) => setImmediate(resolve))
      for (const { id } of files().jobs.of(ANN)) files().jobs.cancel(ANN, id)
      const { name, message } = await working
      if (name === undefined) cancelled += 1
      else await rm(join(share(), name), { recursive: true })
      expect(['', 'The archive was cancelled.', 'The unarchive was cancelled.']).toContain(message)
      expect([round, (await readdir(share())).sort()]).toEqual([round, present])
    }
    expect(cancelled).toBeGreaterThan(0)
  })

  test('security 124: a very long file of which nearly nothing is stored is not packed, and the reason names it', async () => {
    await put('world/hole', '')
    await promisify(execFile)('truncate', ['-s', '100G', join(share(), 'world/hole')])
    await expect(files().archive(ANN, '/nfsshare/world')).rejects.toMatchObject({
      code: 'TOO_LARGE',
      message: expect.stringContaining('"world/hole" is 100 GiB long and nearly empty') as string,
    })
    expect((await readdir(share())).sort()).toEqual(['ops.json', 'world'])
  })

  test('a file that shrinks or disappears during packing leaves a readable archive', async () => {
    await put('world/log.txt', 'x'.repeat(5_000_000))
    const packing = files().archive(ANN, '/nfsshare/world')
    await promisify(execFile)('truncate', ['-s', '10', join(share(), 'world/log.txt')])
    await rm(join(share(), 'world/level.dat'))
    const { name } = await packing
    expect(await listed(name)).toContain('world/log.txt')
  })
})
