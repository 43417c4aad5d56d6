import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, symlink, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { until } from '../../support/platform/until'
import { useFileCalls } from '../../support/platform/fileCalls'

const { platform, ann, share, at, call, entriesOf, list, makeDirectory } = useFileCalls()

describe('a listing', () => {
  test('§3 contains name, path, type, size, time and whether an entry is text', async () => {
    const path = await makeDirectory('listed', {
      'server.properties': 'motd=hello\n',
      'icon.png': Buffer.from([0x89, 0x50, 0, 1]),
      'world/level.dat': 'x',
    })
    await utimes(join(share(), 'listed/server.properties'), 1_700_000_000.5, 1_700_000_000.5)
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
    await mkdir(join(share(), 'lasting/world'))
    expect((await list('/nfsshare/lasting/world')).body.data.deploymentTypeIndex).toBe(1)
    expect((await list('/nfsshare')).body.data.deploymentTypeIndex).toBeNull()
  })

  test('decisions §3: a link inside appears as its target; a dangling link or one that leads out cannot be opened', async () => {
    const path = await makeDirectory('linked', { 'real.txt': 'text' })
    await symlink('real.txt', join(share(), 'linked/inside.txt'))
    await symlink('/etc', join(share(), 'linked/outside'))
    await symlink('nowhere', join(share(), 'linked/dangling'))
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
    await Promise.all(Array.from({ length: 6000 }, (_, index) => writeFile(join(share(), 'large', `file${index}`), '')))
    for (let round = 0; round < 3; round += 1) expect(await entriesOf(path)).toHaveLength(6000)
    await writeFile(join(share(), 'large/new'), 'new')
    expect(await entriesOf(path)).toContainEqual(expect.objectContaining({ name: 'new', size: 3 }))
    await call('DELETE', `file?${at(`${path}/file7`)}`)
    expect((await entriesOf(path)).some(({ name }) => name === 'file7')).toBe(false)
  })

  test('of a large directory requested through a link has the requested paths', async () => {
    await makeDirectory('wide')
    await Promise.all(Array.from({ length: 600 }, (_, index) => writeFile(join(share(), 'wide', `file${index}`), '')))
    await symlink('wide', join(share(), 'narrow'))
    for (const path of ['narrow', 'narrow', 'narrow', 'wide', 'wide', 'narrow']) {
      expect(
        (await entriesOf(`/nfsshare/${path}`)).filter((entry) => entry.path.startsWith(`/nfsshare/${path}/`)),
      ).toHaveLength(600)
    }
  })

  test('of a large directory shows changes behind its links and in its directories within seconds', async () => {
    await makeDirectory('mixed')
    await Promise.all(Array.from({ length: 600 }, (_, index) => writeFile(join(share(), 'mixed', `file${index}`), '')))
    await writeFile(join(share(), 'grows.log'), '')
    await symlink('../grows.log', join(share(), 'mixed/log'))
    const sizeOfLog = async () => (await entriesOf('/nfsshare/mixed')).find(({ name }) => name === 'log')?.size
    for (let round = 0; round < 5; round += 1) expect(await sizeOfLog()).toBe(0)
    await writeFile(join(share(), 'grows.log'), 'grown')
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
  const packed = (await readdir(join(share(), 'packing'))).sort()
  expect(packed).toEqual([
    'a.txt',
    expect.stringMatching(/^archive-\d{8}-\d{6}\.tar\.gz$/),
    'b.txt',
    'world',
    'world.tar.gz',
  ])
  for (const name of ['world.tar.gz', packed[1]!])
    expect(await call('POST', 'unarchive', { path: `${path}/${name}` })).toMatchObject({ status: 201 })
  expect(await readFile(join(share(), 'packing/world (2)/world/level.dat'), 'utf8')).toBe('level')
  expect((await readdir(join(share(), 'packing', packed[1]!.replace('.tar.gz', '')))).sort()).toEqual([
    'a.txt',
    'b.txt',
  ])
})

describe('creating, moving and deleting', () => {
  test('§7 a file and a directory are created; an existing name gets 409', async () => {
    const path = await makeDirectory('made')
    expect(await call('POST', 'file', { path: `${path}/new.txt`, content: '' })).toMatchObject({ status: 201 })
    expect(await call('POST', 'directory', { path: `${path}/sub` })).toMatchObject({ status: 201 })
    expect(await call('POST', 'file', { path: `${path}/new.txt`, content: '' })).toMatchObject({
      status: 409,
      body: { code: 'NAME_TAKEN', message: '/nfsshare/made/new.txt exists already.' },
    })
    expect(await call('POST', 'directory', { path: `${path}/new.txt` })).toMatchObject({ status: 409 })
    expect(await call('POST', 'file', { path: `${path}/none/new.txt`, content: '' })).toMatchObject({ status: 404 })
    expect((await readdir(join(share(), 'made'))).sort()).toEqual(['new.txt', 'sub'])
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
    expect(await readFile(join(share(), 'moving/c.txt'), 'utf8')).toBe('a')
    expect(await readFile(join(share(), 'moving/other/tree/deep/b.txt'), 'utf8')).toBe('b')
    expect((await readdir(join(share(), 'moving'))).sort()).toEqual(['c.txt', 'other'])
  })

  test('a tree with names that are not UTF-8 is deleted like any other', async () => {
    const path = await makeDirectory('latin', { 'a.txt': '', 'sub/b.txt': '' })
    for (const start of ['latin/k', 'latin/sub/k'])
      await writeFile(Buffer.concat([Buffer.from(join(share(), start)), Buffer.from([0xe4]), Buffer.from('se')]), '')
    expect((await call('DELETE', `directory?${at(path)}`)).status).toBe(200)
    expect(existsSync(join(share(), 'latin'))).toBe(false)
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
      (await readFile(join(share(), 'intact/a/one'), 'utf8')) +
        (await readFile(join(share(), 'intact/b/two'), 'utf8')) +
        (await readFile(join(share(), 'intact/file'), 'utf8')),
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
      expect(await readdir(join(share(), `race${round}`))).toHaveLength(2)
    }
  })

  test('a link is deleted as the type it is listed as, and its target stays', async () => {
    const path = await makeDirectory('aliases', { 'world/level.dat': 'level', file: 'file' })
    await symlink('world', join(share(), 'aliases/alias'))
    await symlink('file', join(share(), 'aliases/other'))
    const types = Object.fromEntries((await entriesOf(path)).map(({ name, type }) => [name, type]))
    expect(types).toMatchObject({ alias: 'd', other: '-' })
    expect(await call('DELETE', `directory?${at(`${path}/alias`)}`)).toMatchObject({ status: 200 })
    expect(await call('DELETE', `file?${at(`${path}/other`)}`)).toMatchObject({ status: 200 })
    expect((await readdir(join(share(), 'aliases'), { recursive: true })).sort()).toEqual([
      'file',
      'world',
      'world/level.dat',
    ])
  })

  test('§7 a file or a tree is deleted, each by its own call only', async () => {
    const path = await makeDirectory('deleted', { 'tree/deep/b.txt': 'b', file: '' })
    expect(await call('DELETE', `file?${at(`${path}/tree`)}`)).toMatchObject({ status: 409 })
    expect(await call('DELETE', `directory?${at(`${path}/file`)}`)).toMatchObject({ status: 409 })
    expect(await call('DELETE', `directory?${at(`${path}/tree`)}`)).toMatchObject({ status: 200 })
    expect(await call('DELETE', `file?${at(`${path}/file`)}`)).toMatchObject({ status: 200 })
    expect(await call('DELETE', `file?${at(`${path}/file`)}`)).toMatchObject({ status: 404 })
    expect(await readdir(join(share(), 'deleted'))).toEqual([])
  })
})
