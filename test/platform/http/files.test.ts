import { existsSync } from 'node:fs'
import { chmod, mkdir, readdir, readFile, stat, symlink, truncate, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expectHeldUnder } from '../../support/platform/heldMemory'
import { usePlatform, type Answer } from '../../support/platform/startPlatform'
import { until } from '../../support/platform/until'

const { platform, account: ann } = usePlatform('ann')
let share: string

beforeAll(async () => {
  share = join(platform().dataDir, 'nfsshare')
})

/** Creates a directory for one test and returns its path as the API writes it. */
async function makeDirectory(name: string, files: Record<string, string | Buffer> = {}): Promise<string> {
  await mkdir(join(share, name))
  for (const [path, content] of Object.entries(files)) {
    await mkdir(join(share, name, path, '..'), { recursive: true })
    await writeFile(join(share, name, path), content)
  }
  return `/nfsshare/${name}`
}

const call = (method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, body?: unknown): Promise<Answer> =>
  platform().call(method, `/api/sftp/${path}`, { body, token: ann().token })
const at = (path: string) => `path=${encodeURIComponent(path)}`
const list = (path: string) => call('GET', `files?${at(path)}`)
const entriesOf = async (path: string) =>
  (await list(path)).body.data.files as {
    name: string
    path: string
    type: string
    size: number
    modifyTime: number
    isText: boolean
  }[]
const read = (path: string) => call('GET', `file/content?${at(path)}`)

describe('a listing', () => {
  test('§3 contains name, path, type, size, time and whether an entry is text', async () => {
    const path = await makeDirectory('listed', {
      'server.properties': 'motd=hello\n',
      'icon.png': Buffer.from([0x89, 0x50, 0, 1]),
      'world/level.dat': 'x',
    })
    await utimes(join(share, 'listed/server.properties'), 1_700_000_000.5, 1_700_000_000.5)
    const entries = await entriesOf(path)
    expect(entries.map(({ name, type, size, isText }) => [name, type, size, isText]).sort()).toEqual([
      ['icon.png', '-', 4, false],
      ['server.properties', '-', 11, true],
      ['world', 'd', 0, false],
    ])
    expect(entries.find(({ name }) => name === 'server.properties')).toMatchObject({
      path: '/nfsshare/listed/server.properties',
      modifyTime: 1_700_000_000_500,
    })
  })

  test('§7 contains the type of the surrounding deployment, or null outside of any', async () => {
    // What is known of the deployments now must not hide the next one.
    await list('/nfsshare')
    await platform().call('POST', '/api/deployments', {
      token: ann().token,
      body: { name: 'lasting', type: 'persistent', node: 'node-a' },
    })
    await mkdir(join(share, 'lasting/world'))
    expect((await list('/nfsshare/lasting/world')).body.data.deploymentTypeIndex).toBe(1)
    expect((await list('/nfsshare')).body.data.deploymentTypeIndex).toBeNull()
  })

  test('decisions §3: a link inside appears as its target; a dangling link or one that leads out cannot be opened', async () => {
    const path = await makeDirectory('linked', { 'real.txt': 'text' })
    await symlink('real.txt', join(share, 'linked/inside.txt'))
    await symlink('/etc', join(share, 'linked/outside'))
    await symlink('nowhere', join(share, 'linked/dangling'))
    expect(Object.fromEntries((await entriesOf(path)).map(({ name, type, isText }) => [name, [type, isText]]))).toEqual(
      {
        'real.txt': ['-', true],
        'inside.txt': ['-', true],
        outside: ['l', false],
        dangling: ['l', false],
      },
    )
    expect(await list(`${path}/outside`)).toMatchObject({
      status: 403,
      body: { message: '/nfsshare/linked/outside leads out of the shared area.' },
    })
  })

  test('of a large directory shows added, changed and removed entries at once, whatever changed them', async () => {
    const path = await makeDirectory('large')
    await Promise.all(Array.from({ length: 6000 }, (_, index) => writeFile(join(share, 'large', `file${index}`), '')))
    for (let round = 0; round < 3; round += 1) expect(await entriesOf(path)).toHaveLength(6000)
    await writeFile(join(share, 'large/new'), 'new')
    expect(await entriesOf(path)).toContainEqual(expect.objectContaining({ name: 'new', size: 3 }))
    await call('DELETE', `file?${at(`${path}/file7`)}`)
    expect((await entriesOf(path)).some(({ name }) => name === 'file7')).toBe(false)
  })

  test('of a large directory requested through a link has the requested paths', async () => {
    await makeDirectory('wide')
    await Promise.all(Array.from({ length: 600 }, (_, index) => writeFile(join(share, 'wide', `file${index}`), '')))
    await symlink('wide', join(share, 'narrow'))
    for (const path of ['narrow', 'narrow', 'narrow', 'wide', 'wide', 'narrow']) {
      expect(
        (await entriesOf(`/nfsshare/${path}`)).filter((entry) => entry.path.startsWith(`/nfsshare/${path}/`)),
      ).toHaveLength(600)
    }
  })

  test('of a large directory shows changes behind its links and in its directories within seconds', async () => {
    await makeDirectory('mixed')
    await Promise.all(Array.from({ length: 600 }, (_, index) => writeFile(join(share, 'mixed', `file${index}`), '')))
    await writeFile(join(share, 'grows.log'), '')
    await symlink('../grows.log', join(share, 'mixed/log'))
    const sizeOfLog = async () => (await entriesOf('/nfsshare/mixed')).find(({ name }) => name === 'log')?.size
    for (let round = 0; round < 5; round += 1) expect(await sizeOfLog()).toBe(0)
    await writeFile(join(share, 'grows.log'), 'grown')
    await until(sizeOfLog, (size) => size === 5, 15)
  })

  test.each(['/nfsshare/../etc', '/nfsshare//a', '/etc', '/nfsshare/a\0'])(
    'of the invalid path %j gets 400 and leaves no unhandled rejection',
    async (path) => {
      // An unhandled rejection fails the test in which it happens; this gives it time to happen.
      expect(await list(path)).toMatchObject({ status: 400, body: { code: 'INVALID_INPUT', field: 'path' } })
      await new Promise((resolve) => setImmediate(resolve))
    },
  )

  test('of a missing directory gets 404, and of a file 409', async () => {
    await makeDirectory('small', { file: '' })
    expect(await list('/nfsshare/nothing')).toMatchObject({
      status: 404,
      body: { message: 'There is no /nfsshare/nothing.' },
    })
    expect(await list('/nfsshare/small/file')).toMatchObject({ status: 409 })
  })
})

describe('the content of a file', () => {
  test.each([
    ['utf-8', Buffer.from('motd=Grüße 🚀\r\nport=1\n'), 'motd=Grüße 🚀\r\nport=1\n'],
    ['utf-8-bom', Buffer.from('\ufeffa=1\n'), 'a=1\n'],
    ['utf-16le', Buffer.from('\ufeffa=ä\n', 'utf16le'), 'a=ä\n'],
    ['utf-16be', Buffer.from('\ufeffa=ä\n', 'utf16le').swap16(), 'a=ä\n'],
    ['windows-1252', Buffer.from([0x61, 0x3d, 0xe4, 0x80, 0x0d, 0x0a]), 'a=ä€\r\n'],
  ])('decisions §3: %s is read as text and saved in its encoding', async (encoding, bytes, text) => {
    const path = `${await makeDirectory(`text-${encoding}`, { file: bytes })}/file`
    const opened = await read(path)
    expect(opened.body.data).toMatchObject({ content: text, encoding })
    const { modifyTime } = opened.body.data
    const saved = await call('PATCH', 'file/content', { path, content: opened.body.data.content, encoding, modifyTime })
    expect(saved).toMatchObject({ status: 200 })
    expect(await readFile(join(share, `text-${encoding}`, 'file'))).toEqual(bytes)
  })

  test('security 23: saving a file that was changed meanwhile gets 409, and the disk keeps the newer text', async () => {
    const path = `${await makeDirectory('stale', { file: 'old' })}/file`
    const { modifyTime } = (await read(path)).body.data
    await writeFile(join(share, 'stale/file'), 'newer')
    await utimes(join(share, 'stale/file'), new Date(), new Date(Number(modifyTime) + 5000))
    expect(await call('PATCH', 'file/content', { path, content: 'mine', modifyTime })).toMatchObject({
      status: 409,
      body: { code: 'CONFLICT', message: '/nfsshare/stale/file was changed since it was opened.' },
    })
    expect(await readFile(join(share, 'stale/file'), 'utf8')).toBe('newer')
    // A request to overwrite omits the time.
    expect(await call('PATCH', 'file/content', { path, content: 'mine' })).toMatchObject({ status: 200 })
    expect(await readFile(join(share, 'stale/file'), 'utf8')).toBe('mine')
    expect(await readdir(join(share, 'stale'))).toEqual(['file'])
  })

  test('a save returns the modification time that the next save has to send', async () => {
    const path = `${await makeDirectory('again', { file: '1' })}/file`
    let { modifyTime } = (await read(path)).body.data
    for (const content of ['2', '3', '4'])
      ({ modifyTime } = (await call('PATCH', 'file/content', { path, content, modifyTime })).body.data)
    expect(await readFile(join(share, 'again/file'), 'utf8')).toBe('4')
  })

  test('a save keeps the mode, and a save through a link changes its target', async () => {
    const path = await makeDirectory('kept', { 'run.sh': '#!/bin/sh\n' })
    await chmod(join(share, 'kept/run.sh'), 0o750)
    await symlink('run.sh', join(share, 'kept/link'))
    await call('PATCH', 'file/content', { path: `${path}/link`, content: 'changed' })
    expect(await readFile(join(share, 'kept/run.sh'), 'utf8')).toBe('changed')
    expect((await stat(join(share, 'kept/run.sh'))).mode & 0o777).toBe(0o750)
    expect((await entriesOf(path)).map(({ name }) => name).sort()).toEqual(['link', 'run.sh'])
  })

  test('a save clears the setuid and setgid bits, as every write does', async () => {
    const path = await makeDirectory('special', { tool: 'one' })
    await chmod(join(share, 'special/tool'), 0o6755)
    expect((await call('PATCH', 'file/content', { path: `${path}/tool`, content: 'two' })).status).toBe(200)
    expect((await stat(join(share, 'special/tool'))).mode & 0o7777).toBe(0o755)
  })

  test('security 117: a text that is not sent as UTF-8 gets 400, and the file stays unchanged', async () => {
    const path = await makeDirectory('umlauts', { 'motd.txt': 'before' })
    const answer = await platform().app.inject({
      method: 'PATCH',
      url: '/api/sftp/file/content',
      headers: { authorization: `Bearer ${ann().token}`, 'content-type': 'application/json' },
      payload: Buffer.from(JSON.stringify({ path: `${path}/motd.txt`, content: 'Grüße' }), 'latin1'),
    })
    expect([answer.statusCode, answer.json()]).toMatchObject([400, { code: 'INVALID_INPUT' }])
    expect(await readFile(join(share, 'umlauts/motd.txt'), 'utf8')).toBe('before')
  })

  test('security 129: half of a surrogate pair gets 400, and the file stays unchanged; an escaped pair is saved', async () => {
    const path = await makeDirectory('surrogates', { 'motd.txt': 'before' })
    const save = (content: string) =>
      call('PATCH', 'file/content', `{"path": "${path}/motd.txt", "content": "${content}"}`)
    for (const content of [
      '\\ud800',
      '\\uDFFF',
      'a\\udc00\\ud800',
      '\\ud83d\\n\\ude00',
      '\\ud83d\\ud83d\\ude00',
      '\\\\\\ud800',
    ])
      expect([content, await save(content)]).toMatchObject([content, { status: 400, body: { code: 'INVALID_INPUT' } }])
    expect(await readFile(join(share, 'surrogates/motd.txt'), 'utf8')).toBe('before')
    expect(await save('\\ud83d\\uDE00 \\\\ud800 \\ud7ff')).toMatchObject({ status: 200 })
    expect(await readFile(join(share, 'surrogates/motd.txt'), 'utf8')).toBe('\u{1f600} \\ud800 \ud7ff')
  })

  test('a character that the encoding cannot represent gets 400, and the file stays unchanged', async () => {
    const path = `${await makeDirectory('one-byte', { file: Buffer.from([0xe4]) })}/file`
    expect(await call('PATCH', 'file/content', { path, content: '漢', encoding: 'windows-1252' })).toMatchObject({
      status: 400,
      body: { field: 'content' },
    })
    expect(await readFile(join(share, 'one-byte/file'))).toEqual(Buffer.from([0xe4]))
  })

  test('security 24: a file of a gigabyte gets 413 and a binary file 415, without being read into memory', async () => {
    const path = await makeDirectory('heavy', { binary: Buffer.from([1, 0, 2]) })
    await writeFile(join(share, 'heavy/huge'), '')
    await truncate(join(share, 'heavy/huge'), 2 ** 30)
    await expectHeldUnder(50 * 2 ** 20, async () => {
      expect(await read(`${path}/huge`)).toMatchObject({ status: 413, body: { code: 'TOO_LARGE' } })
      expect(await read(`${path}/binary`)).toMatchObject({ status: 415, body: { code: 'UNSUPPORTED_MEDIA_TYPE' } })
      expect(await call('PATCH', 'file/content', { path: `${path}/huge`, content: '' })).toMatchObject({ status: 413 })
    })
  })

  test('decisions §1: a text of 5 MiB is saved, and one byte more gets 413', async () => {
    const path = `${await makeDirectory('full', { file: '' })}/file`
    expect(await call('PATCH', 'file/content', { path, content: 'x'.repeat(5 * 2 ** 20) })).toMatchObject({
      status: 200,
    })
    expect(await call('PATCH', 'file/content', { path, content: 'x'.repeat(5 * 2 ** 20 + 1) })).toMatchObject({
      status: 413,
    })
    expect((await stat(join(share, 'full/file'))).size).toBe(5 * 2 ** 20)
  })
})

test('§7 archive, archive-multiple and unarchive work over HTTP', async () => {
  const path = await makeDirectory('packing', { 'a.txt': 'a', 'b.txt': 'b', 'world/level.dat': 'level' })
  expect(await call('POST', 'archive', { path: `${path}/world` })).toMatchObject({
    status: 201,
    body: { success: true },
  })
  expect(
    await call('POST', 'archive-multiple', {
      files: ['a.txt', 'b.txt'].map((name) => ({ path: `${path}/${name}`, name })),
    }),
  ).toMatchObject({ status: 201 })
  const packed = (await readdir(join(share, 'packing'))).sort()
  expect(packed).toEqual([
    'a.txt',
    expect.stringMatching(/^archive-\d{8}-\d{6}\.tar\.gz$/),
    'b.txt',
    'world',
    'world.tar.gz',
  ])
  for (const name of ['world.tar.gz', packed[1]!])
    expect(await call('POST', 'unarchive', { path: `${path}/${name}` })).toMatchObject({ status: 201 })
  expect(await readFile(join(share, 'packing/world (2)/world/level.dat'), 'utf8')).toBe('level')
  expect((await readdir(join(share, 'packing', packed[1]!.replace('.tar.gz', '')))).sort()).toEqual(['a.txt', 'b.txt'])
})

describe('creating, moving and deleting', () => {
  test('§7 creates a file and a directory; an existing name gets 409', async () => {
    const path = await makeDirectory('made')
    expect(await call('POST', 'file', { path: `${path}/new.txt`, content: '' })).toMatchObject({ status: 201 })
    expect(await call('POST', 'directory', { path: `${path}/sub` })).toMatchObject({ status: 201 })
    expect(await call('POST', 'file', { path: `${path}/new.txt`, content: '' })).toMatchObject({
      status: 409,
      body: { code: 'NAME_TAKEN', message: '/nfsshare/made/new.txt exists already.' },
    })
    expect(await call('POST', 'directory', { path: `${path}/new.txt` })).toMatchObject({ status: 409 })
    expect(await call('POST', 'file', { path: `${path}/none/new.txt`, content: '' })).toMatchObject({ status: 404 })
    expect((await readdir(join(share, 'made'))).sort()).toEqual(['new.txt', 'sub'])
  })

  test.each(['a<b', 'a>b', 'a:b', 'a"b', 'a\\b', 'a|b', 'a?b', 'a*b', 'a\nb', 'a\u0007b'])(
    '§5 the name %j gets 400',
    async (name) => {
      expect(await call('POST', 'file', { path: `/nfsshare/${name}`, content: '' })).toMatchObject({
        status: 400,
        body: { field: 'path' },
      })
      expect(await call('POST', 'directory', { path: `/nfsshare/${name}` })).toMatchObject({ status: 400 })
    },
  )

  test('§7 move renames and moves files and trees', async () => {
    const path = await makeDirectory('moving', { 'a.txt': 'a', 'tree/deep/b.txt': 'b', 'other/keep': '' })
    expect(await call('POST', 'move', { sourcePath: `${path}/a.txt`, targetPath: `${path}/c.txt` })).toMatchObject({
      status: 200,
    })
    expect(await call('POST', 'move', { sourcePath: `${path}/tree`, targetPath: `${path}/other/tree` })).toMatchObject({
      status: 200,
    })
    expect(await readFile(join(share, 'moving/c.txt'), 'utf8')).toBe('a')
    expect(await readFile(join(share, 'moving/other/tree/deep/b.txt'), 'utf8')).toBe('b')
    expect((await readdir(join(share, 'moving'))).sort()).toEqual(['c.txt', 'other'])
  })

  test('a tree with names that are not UTF-8 is deleted like any other', async () => {
    const path = await makeDirectory('latin', { 'a.txt': '', 'sub/b.txt': '' })
    for (const start of ['latin/k', 'latin/sub/k'])
      await writeFile(Buffer.concat([Buffer.from(join(share, start)), Buffer.from([0xe4]), Buffer.from('se')]), '')
    expect((await call('DELETE', `directory?${at(path)}`)).status).toBe(200)
    expect(existsSync(join(share, 'latin'))).toBe(false)
  })

  test('security 18: a move into itself or onto an existing name, and deleting the root, are refused without changes', async () => {
    const path = await makeDirectory('intact', { 'a/one': '1', 'b/two': '2', file: 'f' })
    const refused = [
      await call('POST', 'move', { sourcePath: `${path}/a`, targetPath: `${path}/a/inside` }),
      await call('POST', 'move', { sourcePath: `${path}/a`, targetPath: `${path}/b` }),
      await call('POST', 'move', { sourcePath: `${path}/file`, targetPath: `${path}/b/two` }),
      await call('POST', 'move', { sourcePath: `${path}/file`, targetPath: `${path}/b` }),
      await call('POST', 'move', { sourcePath: `${path}/a`, targetPath: `${path}/file` }),
      await call('POST', 'move', { sourcePath: `${path}/file`, targetPath: `${path}/file` }),
    ]
    expect(refused.map(({ status }) => status)).toEqual([409, 409, 409, 409, 409, 409])
    expect(await call('DELETE', `directory?${at('/nfsshare')}`)).toMatchObject({ status: 400 })
    expect(await call('POST', 'move', { sourcePath: '/nfsshare', targetPath: `${path}/root` })).toMatchObject({
      status: 400,
    })
    expect(
      (await readFile(join(share, 'intact/a/one'), 'utf8')) +
        (await readFile(join(share, 'intact/b/two'), 'utf8')) +
        (await readFile(join(share, 'intact/file'), 'utf8')),
    ).toBe('12f')
  })

  test('exactly one of two concurrent moves to one name succeeds, and no file is lost', async () => {
    for (let round = 0; round < 30; round += 1) {
      const path = await makeDirectory(`race${round}`, { one: '1', two: '2' })
      const answers = await Promise.all(
        ['one', 'two'].map((name) =>
          call('POST', 'move', { sourcePath: `${path}/${name}`, targetPath: `${path}/target` }),
        ),
      )
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 409])
      expect(await readdir(join(share, `race${round}`))).toHaveLength(2)
    }
  })

  test('a link is deleted as the type it is listed as, and its target stays', async () => {
    const path = await makeDirectory('aliases', { 'world/level.dat': 'level', file: 'file' })
    await symlink('world', join(share, 'aliases/alias'))
    await symlink('file', join(share, 'aliases/other'))
    const types = Object.fromEntries((await entriesOf(path)).map(({ name, type }) => [name, type]))
    expect(types).toMatchObject({ alias: 'd', other: '-' })
    expect(await call('DELETE', `directory?${at(`${path}/alias`)}`)).toMatchObject({ status: 200 })
    expect(await call('DELETE', `file?${at(`${path}/other`)}`)).toMatchObject({ status: 200 })
    expect((await readdir(join(share, 'aliases'), { recursive: true })).sort()).toEqual([
      'file',
      'world',
      'world/level.dat',
    ])
  })

  test('§7 deletes a file or a tree, each by its own call only', async () => {
    const path = await makeDirectory('deleted', { 'tree/deep/b.txt': 'b', file: '' })
    expect(await call('DELETE', `file?${at(`${path}/tree`)}`)).toMatchObject({ status: 409 })
    expect(await call('DELETE', `directory?${at(`${path}/file`)}`)).toMatchObject({ status: 409 })
    expect(await call('DELETE', `directory?${at(`${path}/tree`)}`)).toMatchObject({ status: 200 })
    expect(await call('DELETE', `file?${at(`${path}/file`)}`)).toMatchObject({ status: 200 })
    expect(await call('DELETE', `file?${at(`${path}/file`)}`)).toMatchObject({ status: 404 })
    expect(await readdir(join(share, 'deleted'))).toEqual([])
  })
})
