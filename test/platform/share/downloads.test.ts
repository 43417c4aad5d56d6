import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { chmod, readdir, stat, truncate, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import pino from 'pino'
import { ZipFile } from 'yazl'
import { openFiles, type Files } from '../../../src/platform/share/files'
import { hungDiskMissing, mountDeadDisk } from '../../support/platform/hungDisk'
import { useTemporaryDirectory } from '../../support/platform/temporaryDirectory'

const directory = useTemporaryDirectory()

/** Opens a shared area of its own for a test. */
async function openShare(name: string): Promise<{ share: string; files: Files }> {
  const [dataDir, share] = [join(directory(), name, 'data'), join(directory(), name, 'share')]
  for (const path of [dataDir, share]) mkdirSync(path, { recursive: true })
  return { share, files: await openFiles({ dataDir, shareDir: share, log: pino({ level: 'silent' }), now: Date.now }) }
}

test('§7 a zip of many entries contains them all, and its entry list holds only unfinished ones', async () => {
  const { share, files } = await openShare('many')
  const contents: Record<string, string> = {}
  for (let number = 0; number < 1000; number++) {
    const folder = `many/${number % 20}`
    if (number < 20) mkdirSync(join(share, folder, 'empty'), { recursive: true })
    // Empty, stored and compressed entries.
    contents[`${folder}/${number}.txt`] = `${number} `.repeat([0, 1, 1000][number % 3]!)
  }
  for (const [path, content] of Object.entries(contents)) writeFileSync(join(share, path), content)
  let most = 0
  const add = ZipFile.prototype.addReadStreamLazy
  const watched = jest.spyOn(ZipFile.prototype, 'addReadStreamLazy').mockImplementation(function (
    this: ZipFile & { entries: unknown[] },
    ...given: Parameters<typeof add>
  ) {
    most = Math.max(most, this.entries.length)
    add.apply(this, given)
  })
  try {
    writeFileSync(join(share, 'got.zip'), await buffer(await files.downloads.zip(1, ['/nfsshare/many'])))
    await files.unarchive(1, '/nfsshare/got.zip')
  } finally {
    watched.mockRestore()
    await files.close()
  }
  const found = (await readdir(join(share, 'got'), { recursive: true, withFileTypes: true })).map((entry) => ({
    entry,
    path: join(entry.parentPath, entry.name),
  }))
  expect(
    Object.fromEntries(
      found
        .filter(({ entry }) => entry.isFile())
        .map(({ path }) => [path.slice(share.length + 5), readFileSync(path, 'utf8')]),
    ),
  ).toEqual(contents)
  expect(found.filter(({ entry }) => entry.name === 'empty')).toHaveLength(20)
  expect(most).toBeLessThan(30)
})

test('security 124: a zip leaves out a very long file of which nearly nothing is stored, and says so', async () => {
  const { share, files } = await openShare('holes')
  mkdirSync(join(share, 'world'), { recursive: true })
  for (const name of ['hole', 'level.dat']) writeFileSync(join(share, 'world', name), 'text')
  await truncate(join(share, 'world/hole'), 100 * 2 ** 30)
  try {
    writeFileSync(join(share, 'got.zip'), await buffer(await files.downloads.zip(1, ['/nfsshare/world'])))
    await files.unarchive(1, '/nfsshare/got.zip')
  } finally {
    await files.close()
  }
  expect(await readdir(join(share, 'got/world'))).toEqual(['level.dat'])
  expect(readFileSync(join(share, 'got/not-included.txt'), 'utf8')).toContain('"world/hole" is 100 GiB long')
})

;(hungDiskMissing === undefined ? test : test.skip)(
  'security 218: a zip leaves out what the platform may not read, and says so',
  async () => {
    const { share, files } = await openShare('forbidden')
    mkdirSync(join(share, 'world'), { recursive: true })
    writeFileSync(join(share, 'world/level.dat'), 'text')
    const unmount = mountDeadDisk(join(share, 'world/private'), 1)
    try {
      writeFileSync(join(share, 'got.zip'), await buffer(await files.downloads.zip(1, ['/nfsshare/world'])))
      await files.unarchive(1, '/nfsshare/got.zip')
    } finally {
      unmount()
      await files.close()
    }
    expect(await readdir(join(share, 'got/world'))).toEqual(['level.dat'])
    expect(readFileSync(join(share, 'got/not-included.txt'), 'utf8')).toContain('"world/private" may not be read')
  },
)

test('security 132: a zip of files with times before 1970 and after 2038 is complete, whatever their length', async () => {
  const { share, files } = await openShare('times')
  mkdirSync(join(share, 'world/old'), { recursive: true })
  // Only a compressed file is still in progress when the list of the zip is requested.
  const contents = { 'short.txt': 'text', 'late.txt': 'text', 'long.txt': randomBytes(300_000).toString('base64') }
  for (const [name, content] of Object.entries(contents)) {
    writeFileSync(join(share, 'world', name), content)
    const time = new Date(name === 'late.txt' ? '2200-01-01' : '1969-12-31')
    await utimes(join(share, 'world', name), time, time)
  }
  await utimes(join(share, 'world/old'), new Date('1969-12-31'), new Date('1969-12-31'))
  try {
    for (const path of ['world', 'world/long.txt', 'world/short.txt']) {
      writeFileSync(join(share, 'got.zip'), await buffer(await files.downloads.zip(1, [`/nfsshare/${path}`])))
      const { path: got } = await files.unarchive(1, '/nfsshare/got.zip')
      const into = join(share, got.slice('/nfsshare/'.length), path === 'world' ? 'world' : '')
      for (const name of path === 'world' ? Object.keys(contents) : [path.slice('world/'.length)])
        expect(readFileSync(join(into, name), 'utf8')).toBe(contents[name as keyof typeof contents])
    }
    const { name } = await files.archive(1, '/nfsshare/world')
    const { path: got } = await files.unarchive(1, `/nfsshare/${name}`)
    const unpacked = await stat(join(share, got.slice('/nfsshare/'.length), 'world/late.txt'))
    expect(unpacked.mtime).toEqual(new Date('2038-01-19T03:14:07Z'))
  } finally {
    await files.close()
  }
})

test('security 132: a zip leaves out an entry whose path is longer than a zip can contain, and says so', async () => {
  const { share, files } = await openShare('long')
  mkdirSync(join(share, 'world'), { recursive: true })
  writeFileSync(join(share, 'world/level.dat'), 'text')
  // Each backslash becomes a character of three bytes.
  const name = '\\'.repeat(255)
  execFileSync(
    'python3',
    ['-c', 'import os,sys\nfor _ in range(100): os.mkdir(sys.argv[1]); os.chdir(sys.argv[1])', name],
    { cwd: join(share, 'world') },
  )
  try {
    const zip = (await buffer(await files.downloads.zip(1, ['/nfsshare/world']))).toString('latin1')
    expect(zip).toContain('world/level.dat')
    expect(zip).toContain('not-included.txt')
  } finally {
    // The path is longer than what Node.js can remove.
    execFileSync('rm', ['-rf', join(share, 'world')])
    await files.close()
  }
})

test('security 146: a zip gives no program the rights of whoever extracts it', async () => {
  const { share, files } = await openShare('rights')
  writeFileSync(join(share, 'run'), 'text')
  await chmod(join(share, 'run'), 0o6755)
  try {
    writeFileSync(join(share, 'got.zip'), await buffer(await files.downloads.zip(1, ['/nfsshare/run'])))
    const list = [
      '-c',
      'import sys,zipfile\nfor e in zipfile.ZipFile(sys.argv[1]).infolist(): print(oct(e.external_attr >> 16))',
    ]
    expect(execFileSync('python3', [...list, join(share, 'got.zip')]).toString()).toBe('0o100755\n')
  } finally {
    await files.close()
  }
})
