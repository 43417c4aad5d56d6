import { mkdir, readdir, readFile, readlink, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { useArchiveFiles, ANN } from '../../support/platform/archiveFiles'
import {
  make7z,
  makeRar,
  makeTar,
  makeTarGz,
  makeZip,
  renameInZip,
  withoutUtf8Mark,
} from '../../support/platform/archives'

const { base, share, files, open, tree, put } = useArchiveFiles()

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
  expect(await files().unarchive(ANN, `/nfsshare/backup.${kind}`)).toEqual({
    name: 'backup',
    path: '/nfsshare/backup',
  })
  const { [`backup.${kind}`]: _archive, ...rest } = await tree()
  expect(rest).toEqual({
    'backup/': '',
    'backup/world/': '',
    'backup/world/level.dat': 'level',
    'backup/server.properties': 'motd=ü',
  })
})

test('a .gz or .tar.gz that is padded with zeros is extracted', async () => {
  // More than is read ahead.
  const padding = Buffer.alloc(30 * 2 ** 20)
  await put('log.txt.gz', Buffer.concat([gzipSync('lines'), padding]))
  await files().unarchive(ANN, '/nfsshare/log.txt.gz')
  expect(await readFile(join(share(), 'log.txt/log.txt'), 'utf8')).toBe('lines')
  await put('a.tar.gz', Buffer.concat([await makeTarGz([{ name: 'one.txt', content: 'one' }]), padding]))
  await files().unarchive(ANN, '/nfsshare/a.tar.gz')
  expect(await readFile(join(share(), 'a/one.txt'), 'utf8')).toBe('one')
})

test('decisions §3: a .7z and a .gz can be extracted too', async () => {
  await put('a.7z', await make7z({ 'one.txt': 'one', 'two.txt': 'two' }))
  await put('log.txt.gz', gzipSync('lines'))
  await files().unarchive(ANN, '/nfsshare/a.7z')
  await files().unarchive(ANN, '/nfsshare/log.txt.gz')
  expect(await tree()).toMatchObject({ 'a/one.txt': 'one', 'a/two.txt': 'two', 'log.txt/log.txt': 'lines' })
})

test('decisions §3: an existing name gets a number', async () => {
  await put('backup.zip', await makeZip({ a: '1' }))
  await put('backup', 'a file')
  expect((await files().unarchive(ANN, '/nfsshare/backup.zip')).name).toBe('backup (2)')
  expect((await files().unarchive(ANN, '/nfsshare/backup.zip')).name).toBe('backup (3)')
})

test('an archive whose name holds a line separator is extracted, and its directory gets a number where the name is taken', async () => {
  await put('a\u2028.v1.zip', await makeZip({ 'a.txt': 'x' }))
  const names: string[] = []
  for (let count = 0; count < 2; count++) names.push((await files().unarchive(ANN, '/nfsshare/a\u2028.v1.zip')).name)
  expect(names).toEqual(['a\u2028.v1', 'a\u2028 (2).v1'])
})

test('executables stay executable, times are kept, and links within the archive stay links', async () => {
  await put(
    'a.zip',
    await makeZip({ 'run.sh': '#!/bin/sh', 'bin/go': '../run.sh' }, { 'run.sh': 0o100755, 'bin/go': 0o120777 }),
  )
  await files().unarchive(ANN, '/nfsshare/a.zip')
  const { mode, mtimeMs } = await stat(join(share(), 'a/run.sh'))
  expect([mode & 0o777, mtimeMs]).toEqual([0o755, Date.parse('2024-05-06T07:08:10Z')])
  expect(await readlink(join(share(), 'a/bin/go'))).toBe('../run.sh')
})

test('names of a zip by macOS or Info-ZIP, which are UTF-8 without being marked so, are read as UTF-8', async () => {
  await put('mac.zip', withoutUtf8Mark(await makeZip({ 'Städte/Überwelt ☃.txt': 'snow', 'Städte/leer/': '' })))
  await files().unarchive(ANN, '/nfsshare/mac.zip')
  expect(await tree(join(share(), 'mac'))).toEqual({
    'Städte/': '',
    'Städte/leer/': '',
    'Städte/Überwelt ☃.txt': 'snow',
  })
})

test('unmarked names of a zip that are no UTF-8 are read as those of MS-DOS', async () => {
  const zip = renameInZip(withoutUtf8Mark(await makeZip({ 'k_se.txt': 'cheese' })), 'k_se', 'k\x84se')
  await put('dos.zip', zip)
  await files().unarchive(ANN, '/nfsshare/dos.zip')
  expect(await readdir(join(share(), 'dos'))).toEqual(['käse.txt'])
})

test('what a zip was made of from standard input is a file', async () => {
  await put('dump.zip', await makeZip({ '-': 'rows' }, { '-': 0o010600 }))
  await files().unarchive(ANN, '/nfsshare/dump.zip')
  expect(await tree(join(share(), 'dump'))).toEqual({ '-': 'rows' })
})

test('a tar of before POSIX, whose headers name no format, is extracted', async () => {
  const tar = await makeTar([
    { name: 'world/', type: 'directory' },
    { name: 'world/level.dat', content: 'level' },
  ])
  for (const name of ['world/\0', 'world/level.dat']) {
    const header = tar.subarray(tar.indexOf(name), tar.indexOf(name) + 512)
    header.fill(0, 156, 157).fill(0, 257).fill(' ', 148, 156)
    const sum = header.reduce((total, byte) => total + byte, 0)
    header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1')
  }
  await put('old.tar', tar)
  await files().unarchive(ANN, '/nfsshare/old.tar')
  expect(await tree(join(share(), 'old'))).toEqual({ 'world/': '', 'world/level.dat': 'level' })
})

test('an archive within an archive is extracted as an ordinary file', async () => {
  await put('outer.zip', await makeZip({ 'inner.zip': await makeZip({ a: '1' }) }))
  await files().unarchive(ANN, '/nfsshare/outer.zip')
  expect(await readdir(join(share(), 'outer'))).toEqual(['inner.zip'])
})

test('security 30: files half-extracted by a killed platform are never listed, and the next start removes them', async () => {
  await files().close()
  // The state at the moment of the kill: a journal entry and an incomplete tree.
  const id = '01234567-89ab-4cde-8f01-23456789abcd'
  await mkdir(join(share(), `lobby/.quarterdeck-${id}.part/world`), { recursive: true })
  await writeFile(join(share(), `lobby/.quarterdeck-${id}.part/world/half`), 'ha')
  await writeFile(join(base(), 'data/temporaries', id), join(share(), `lobby/.quarterdeck-${id}.part`))
  await open()
  expect(await readdir(join(share(), 'lobby'))).toEqual([])
  expect(await readdir(join(base(), 'data/temporaries'))).toEqual([])
})
