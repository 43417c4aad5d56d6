import { execFileSync, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import pino from 'pino'
import { openFiles, type Files } from '../../../src/platform/share/files'
import { makeTarGz } from '../../support/platform/archives'
import { childProgram } from '../../support/platform/childProgram'
import { canMount, mountTmpfs } from '../../support/platform/tmpfs'

const log = pino({ level: 'silent' })
let base: string
let share: string

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'quarterdeck-faults-'))
  share = join(base, 'share')
  await mkdir(share)
  await mkdir(join(base, 'data'))
})
afterEach(() => rm(base, { recursive: true, force: true }))

const open = (): Promise<Files> => openFiles({ dataDir: join(base, 'data'), shareDir: share, log, now: Date.now })

const describeMounted = canMount ? describe : describe.skip

describeMounted('security 49: on a full disk (skipped without mount rights)', () => {
  let files: Files

  beforeEach(async () => {
    mountTmpfs(share, '2m')
    files = await open()
    await writeFile(join(share, 'kept.txt'), 'kept')
  })
  afterEach(async () => {
    await files.close()
    // Fails if a file is still open.
    execFileSync('umount', [share])
  })

  const upload = async (size: number) => {
    const sent = files.upload()
    try {
      await sent.receive(
        'kept.txt',
        Readable.from(Array.from({ length: size / 65_536 }, () => Buffer.alloc(65_536, 1))),
        '/nfsshare',
      )
      await sent.store('/nfsshare', 'replace')
    } catch (error) {
      await sent.discard()
      throw error
    }
  }

  test('a save gets 507, the old content stays, and a save works when space is free', async () => {
    await writeFile(join(share, 'filler'), Buffer.alloc(2 ** 20 + 2 ** 19))
    await expect(
      files.textFiles.save({ path: '/nfsshare/kept.txt', content: 'x'.repeat(2 ** 20) }),
    ).rejects.toMatchObject({ code: 'DISK_FULL', status: 507 })
    expect(await readFile(join(share, 'kept.txt'), 'utf8')).toBe('kept')
    expect((await readdir(share)).sort()).toEqual(['filler', 'kept.txt'])
    await rm(join(share, 'filler'))
    await files.textFiles.save({ path: '/nfsshare/kept.txt', content: 'x'.repeat(2 ** 20) })
    expect((await readFile(join(share, 'kept.txt'))).length).toBe(2 ** 20)
  })

  test('an upload gets 507, the old content stays, and no temporary file is left', async () => {
    await expect(upload(4 * 2 ** 20)).rejects.toMatchObject({ code: 'DISK_FULL' })
    expect(await readFile(join(share, 'kept.txt'), 'utf8')).toBe('kept')
    expect(await readdir(share)).toEqual(['kept.txt'])
    await upload(2 ** 20)
    expect((await readFile(join(share, 'kept.txt'))).length).toBe(2 ** 20)
  })

  test('archiving and extracting get 507 and leave no file', async () => {
    await writeFile(
      join(share, 'random.bin'),
      Buffer.from(Array.from({ length: 1_200_000 }, () => Math.floor(Math.random() * 256))),
    )
    await expect(files.archive(1, '/nfsshare/random.bin')).rejects.toMatchObject({ code: 'DISK_FULL' })
    expect((await readdir(share)).sort()).toEqual(['kept.txt', 'random.bin'])
    await rm(join(share, 'random.bin'))
    await writeFile(join(share, 'zeros'), '')
    await truncate(join(share, 'zeros'), 8 * 2 ** 20)
    const { name } = await files.archive(1, '/nfsshare/zeros')
    await expect(files.unarchive(1, `/nfsshare/${name}`)).rejects.toMatchObject({ code: 'DISK_FULL' })
    expect((await readdir(share)).sort()).toEqual(['kept.txt', 'zeros', 'zeros.tar.gz'])
  })
})

describeMounted('security 49: on a full disk of the data directory (skipped without mount rights)', () => {
  beforeEach(() => mountTmpfs(join(base, 'data'), '64k'))
  afterEach(() => void execFileSync('umount', [join(base, 'data')]))

  test('a save gets 507, leaves no journal entry behind, and works when space is free', async () => {
    const files = await open()
    try {
      await writeFile(join(share, 'kept.txt'), 'kept')
      await expect(writeFile(join(base, 'data/filler'), Buffer.alloc(2 ** 17))).rejects.toMatchObject({
        code: 'ENOSPC',
      })
      await expect(files.textFiles.save({ path: '/nfsshare/kept.txt', content: 'new' })).rejects.toMatchObject({
        code: 'DISK_FULL',
        message: 'The disk of the platform’s data directory is full. Nothing was changed.',
      })
      expect([
        await readdir(join(base, 'data/temporaries')),
        await readdir(share),
        await readFile(join(share, 'kept.txt'), 'utf8'),
      ]).toEqual([[], ['kept.txt'], 'kept'])
      await rm(join(base, 'data/filler'))
      await files.textFiles.save({ path: '/nfsshare/kept.txt', content: 'new' })
      expect(await readFile(join(share, 'kept.txt'), 'utf8')).toBe('new')
    } finally {
      await files.close()
    }
  })
})

/** Saves and uploads in a loop, alternating two contents that each consist of one repeated character. */
const WRITER = `
  const { openFiles } = require(process.argv[2])
  const pino = require('pino')
  const { Readable } = require('node:stream')
  const [, , , dataDir, shareDir] = process.argv
  void (async () => {
    const files = await openFiles({ dataDir, shareDir, log: pino({ level: 'silent' }), now: Date.now })
    process.send('ready')
    for (let round = 0; ; round += 1) {
      const character = round % 2 ? 'a' : 'b'
      await files.textFiles.save({ path: '/nfsshare/saved.txt', content: character.repeat(300_000) })
      const upload = files.upload()
      await upload.receive('uploaded.bin', Readable.from(Array.from({ length: 20 }, () => Buffer.alloc(20_000, character))), '/nfsshare')
      await upload.store('/nfsshare', 'replace')
    }
  })()
`

test('security 50: a kill (-9) while writing leaves old or new content, and the next start removes temporary files', async () => {
  await writeFile(join(share, 'saved.txt'), 'b'.repeat(300_000))
  await writeFile(join(share, 'uploaded.bin'), 'b'.repeat(400_000))
  const program = join(base, 'data/writer.js')
  // In the package, so that its modules are found.
  await writeFile(program, WRITER.replaceAll("require('pino')", `require(${JSON.stringify(require.resolve('pino'))})`))
  for (let round = 0; round < 25; round += 1) {
    const writer = fork(program, [...childProgram('share/files'), join(base, 'data'), share])
    await once(writer, 'message')
    // Varies the moment of the kill; nothing is waited for.
    await delay((round * 37) % 200)
    writer.kill('SIGKILL')
    await once(writer, 'exit')
    for (const [name, length] of [
      ['saved.txt', 300_000],
      ['uploaded.bin', 400_000],
    ] as const) {
      const content = await readFile(join(share, name), 'utf8')
      expect([name, content.length, new Set(content).size]).toEqual([name, length, 1])
    }
  }
  await (await open()).close()
  expect((await readdir(share)).sort()).toEqual(['saved.txt', 'uploaded.bin'])
  expect(await readdir(join(base, 'data/temporaries'))).toEqual([])
}, 120_000)

/** Extracts an archive in a loop, and moves the results aside. */
const EXTRACTOR = `
  const { openFiles } = require(process.argv[2])
  const pino = require('pino')
  const [, , , dataDir, shareDir] = process.argv
  void (async () => {
    const files = await openFiles({ dataDir, shareDir, log: pino({ level: 'silent' }), now: Date.now })
    process.send('ready')
    for (;;) {
      const { name } = await files.unarchive(1, '/nfsshare/world.tar.gz')
      await files.changes.move('/nfsshare/' + name, '/nfsshare/old/' + name + process.hrtime.bigint())
    }
  })()
`

test('security 30: a kill (-9) while extracting leaves only complete results visible, and the next start removes the rest', async () => {
  const names = Array.from({ length: 40 }, (_, index) => `region/r.${index}.mca`)
  await writeFile(
    join(share, 'world.tar.gz'),
    await makeTarGz(names.map((name) => ({ name, content: 'x'.repeat(100_000) }))),
  )
  await mkdir(join(share, 'old'))
  const program = join(base, 'data/extractor.js')
  await writeFile(
    program,
    EXTRACTOR.replaceAll("require('pino')", `require(${JSON.stringify(require.resolve('pino'))})`),
  )
  // From the source, as in development.
  const modulePath = join(__dirname, '../../../src/platform/share/files.ts')
  let unfinished = 0
  for (let round = 0; round < 10 || unfinished === 0; round += 1) {
    const extractor = fork(program, [modulePath, join(base, 'data'), share], {
      execArgv: ['--require', require.resolve('tsx/cjs')],
    })
    await once(extractor, 'message')
    // Varies the moment of the kill; nothing is waited for.
    await delay((round * 37) % 200)
    extractor.kill('SIGKILL')
    await once(extractor, 'exit')
    unfinished += (await readdir(share)).filter((name) => name.startsWith('.quarterdeck-')).length
    const made = [
      ...(await readdir(share)).filter((name) => /^world(?: \(\d+\))?$/.test(name)),
      ...(await readdir(join(share, 'old'))).map((name) => `old/${name}`),
    ]
    for (const name of made) {
      const sizes = await Promise.all(names.map(async (path) => (await stat(join(share, name, path))).size))
      expect([name, new Set(sizes)]).toEqual([name, new Set([100_000])])
      await rm(join(share, name), { recursive: true })
    }
  }
  await (await open()).close()
  expect((await readdir(share)).sort()).toEqual(['old', 'world.tar.gz'])
  expect(await readdir(join(base, 'data/temporaries'))).toEqual([])
}, 120_000)

test('security 105: reading a file on which a program holds a lease is refused at once, with the name of the file', async () => {
  await writeFile(join(share, 'leased.txt'), 'kept')
  const files = await open()
  const hold =
    '$SIG{IO} = "IGNORE"; open(F, "+<", $ARGV[0]); print fcntl(F, 1024, 1) ? "held" : "$!"; close STDOUT; sleep 60'
  const holder = spawn('perl', ['-e', hold, join(share, 'leased.txt')])
  try {
    expect(String((await once(holder.stdout, 'data'))[0])).toBe('held')
    const refusal = {
      code: 'CONFLICT',
      message: '/nfsshare/leased.txt is in use by another program. Try again in a moment.',
    }
    await expect(files.textFiles.read('/nfsshare/leased.txt')).rejects.toMatchObject(refusal)
    await expect(files.downloads.file('/nfsshare/leased.txt')).rejects.toMatchObject(refusal)
  } finally {
    holder.kill('SIGKILL')
    await files.close()
  }
})
