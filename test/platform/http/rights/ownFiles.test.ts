import { mkdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { FileEntry } from '../../../../src/contract/file'
import { useGuest } from '../../../support/platform/limitedUsers'

const { platform, admin, guest, rights, share } = useGuest(['own', 'treasure'])

beforeAll(() => rights().setAccess('guest', { role: 'limited', grants: [{ deployment: 'own', rights: ['files'] }] }))

const call = (method: 'GET' | 'POST' | 'PATCH' | 'DELETE', url: string, body?: object, token = guest().token) =>
  platform().call(method, url, { token, body })
const at = (path: string) => `path=${encodeURIComponent(path)}`
const listOwn = async () => (await call('GET', `/api/sftp/files?${at('/nfsshare/own')}`)).body.data.files as FileEntry[]
/** Gets a ticket. @returns a function that downloads with it */
async function ticketFor(path: string, token = guest().token) {
  const { body } = await call('POST', '/api/sftp/download-ticket', { path }, token)
  return () =>
    platform().app.inject(`/api/sftp/download?${at(path)}&token=${encodeURIComponent(String(body.data.token))}`)
}
const named = (path: string) => ({ files: [{ path, name: path.split('/').at(-1)! }] })

test('decisions §16: a limited user lists, reads, writes, creates, moves, packs, unpacks and deletes in their own directory', async () => {
  expect(await listOwn()).toMatchObject([{ name: 'own.txt' }])
  const path = '/nfsshare/own/sub'
  expect(await call('POST', '/api/sftp/directory', { path })).toMatchObject({ status: 201 })
  expect(await call('POST', '/api/sftp/file', { path: `${path}/a.txt`, content: '' })).toMatchObject({ status: 201 })
  expect(await call('PATCH', '/api/sftp/file/content', { path: `${path}/a.txt`, content: 'hello' })).toMatchObject({
    status: 200,
  })
  expect(
    await call('POST', '/api/sftp/move', { sourcePath: `${path}/a.txt`, targetPath: '/nfsshare/own/b.txt' }),
  ).toMatchObject({ status: 200 })
  expect((await call('GET', `/api/sftp/file/content?${at('/nfsshare/own/b.txt')}`)).body.data.content).toBe('hello')
  expect(await call('POST', '/api/sftp/archive', { path })).toMatchObject({ status: 201 })
  expect(await call('POST', '/api/sftp/archive-multiple', named('/nfsshare/own/b.txt'))).toMatchObject({ status: 201 })
  expect(await call('POST', '/api/sftp/unarchive', { path: `${path}.tar.gz` })).toMatchObject({ status: 201 })
  expect(await call('DELETE', `/api/sftp/directory?${at(path)}`)).toMatchObject({ status: 200 })
  expect(await call('DELETE', `/api/sftp/file?${at('/nfsshare/own/b.txt')}`)).toMatchObject({ status: 200 })
})

test('a limited user downloads a file, several, and their whole directory', async () => {
  const download = await ticketFor('/nfsshare/own/own.txt')
  expect((await download()).payload).toBe('of own')
  for (const path of ['/nfsshare/own', '/nfsshare/own/own.txt']) {
    const zip = await platform().app.inject({
      method: 'POST',
      url: '/api/sftp/download-multiple',
      headers: { authorization: `Bearer ${guest().token}` },
      payload: named(path),
    })
    expect(`${path} ${zip.statusCode}`).toBe(`${path} 200`)
    expect(zip.rawPayload.includes('own.txt')).toBe(true)
    expect(zip.rawPayload.includes('not-included')).toBe(false)
  }
})

test('the directory of a deployment itself cannot be moved, deleted or packed by a limited user', async () => {
  for (const [method, url, body] of [
    ['DELETE', `/api/sftp/directory?${at('/nfsshare/own')}`],
    ['POST', '/api/sftp/move', { sourcePath: '/nfsshare/own', targetPath: '/nfsshare/mine' }],
    ['POST', '/api/sftp/archive', { path: '/nfsshare/own' }],
  ] as const)
    expect(await call(method, url, body)).toMatchObject({ status: 404 })
})

describe('security 30: a link that an instance made in its directory', () => {
  const link = '/nfsshare/own/link'
  const linkOnDisk = () => join(share(), 'own/link')
  afterEach(() => rm(linkOnDisk(), { force: true }))

  test.each([
    ['a directory of others', 'treasure', ''],
    ['a file of others', 'treasure/own.txt', undefined],
    ['the root of the shared area', '.', '/treasure'],
  ])('does not lead a limited user to %s', async (_what, target, below) => {
    await symlink(join(share(), target), linkOnDisk())
    const paths = below === undefined ? [link] : [link + below, `${link}${below}/own.txt`]
    for (const path of paths)
      for (const [method, url, body] of [
        ['GET', `/api/sftp/files?${at(path)}`],
        ['GET', `/api/sftp/file/content?${at(path)}`],
        ['PATCH', '/api/sftp/file/content', { path, content: 'changed' }],
        ['POST', '/api/sftp/file', { path: `${path}/new.txt`, content: '' }],
        ['POST', '/api/sftp/download-multiple', named(path)],
        ['POST', '/api/sftp/archive', { path: `${path}/own.txt` }],
        ['POST', '/api/sftp/move', { sourcePath: `${path}/own.txt`, targetPath: '/nfsshare/own/stolen.txt' }],
        ['DELETE', `/api/sftp/file?${at(`${path}/own.txt`)}`],
      ] as const) {
        const { status, body: answer } = await call(method, url, body)
        expect(`${method} ${url} ${status}`).toBe(`${method} ${url} 404`)
        expect(answer.message).not.toMatch(/leads out|of treasure/)
      }
    expect(await readFile(join(share(), 'treasure/own.txt'), 'utf8')).toBe('of treasure')
  })

  test.each([
    ['a file of others', '../treasure/own.txt'],
    ['a file that others do not have', '../treasure/missing.txt'],
  ])('to %s is listed without details of its target, and a save does not replace it', async (_what, target) => {
    await symlink(target, linkOnDisk())
    expect((await listOwn()).find(({ name }) => name === 'link')).toMatchObject({
      type: 'l',
      size: target.length,
      isText: false,
    })
    expect(await call('PATCH', '/api/sftp/file/content', { path: link, content: 'changed' })).toMatchObject({
      status: 404,
      body: { message: 'There is no /nfsshare/own.' },
    })
  })

  test.each([
    ['a directory of others', '../treasure/there/../../own/sub', '../treasure/gone/../../own/sub'],
    [
      'a directory of the machine',
      `${'../'.repeat(30)}etc/..$SHARE/own/sub`,
      `${'../'.repeat(30)}gone/..$SHARE/own/sub`,
    ],
    ['a file of the machine', '/etc/passwd', '/etc/gone'],
    ['a top directory of the machine', '/etc', '/gone'],
  ])(
    'security 98: that leads through or to %s does not reveal whether its target exists',
    async (_what, there, gone) => {
      await mkdir(join(share(), 'treasure/there'), { recursive: true })
      await mkdir(join(share(), 'own/sub'), { recursive: true })
      await writeFile(join(share(), 'own/sub/own.txt'), 'of own')
      /** What calls through a link with this target answer. */
      const answers = async (target: string) => {
        await symlink(target.replace('$SHARE', share()), linkOnDisk())
        const paths = [link, `${link}/own.txt`]
        const all = []
        for (const path of paths)
          for (const [method, url, body] of [
            ['GET', `/api/sftp/files?${at(path)}`],
            ['GET', `/api/sftp/file/content?${at(path)}`],
            ['PATCH', '/api/sftp/file/content', { path, content: 'changed' }],
            ['POST', '/api/sftp/file', { path: `${path}/new.txt`, content: '' }],
            ['POST', '/api/sftp/download-ticket', { path }],
            ['POST', '/api/sftp/archive', { path: `${path}/own.txt` }],
            ['POST', '/api/sftp/move', { sourcePath: `${path}/own.txt`, targetPath: '/nfsshare/own/stolen.txt' }],
          ] as const) {
            const { status, body: answer } = await call(method, url, body)
            all.push([method, url, status, answer.message])
          }
        const { type, isText } = (await listOwn()).find(({ name }) => name === 'link')!
        await rm(linkOnDisk())
        return [...all, type, isText]
      }
      expect(await answers(there)).toEqual(await answers(gone))
    },
  )

  test('leads a limited user to their own directory, also by a chain of links and by way of the root', async () => {
    await mkdir(join(share(), 'own/sub/deep'), { recursive: true })
    await writeFile(join(share(), 'own/sub/deep/own.txt'), 'of own')
    await symlink('../../own/sub', join(share(), 'own/sub/round'))
    await symlink(join(share(), 'own/sub/round'), linkOnDisk())
    const { body } = await call('GET', `/api/sftp/file/content?${at(`${link}/round/deep/own.txt`)}`)
    expect(body.data.content).toBe('of own')
    expect((await listOwn()).find(({ name }) => name === 'link')).toMatchObject({ type: 'd' })
    await symlink('round-and-round', join(share(), 'own/sub/round-and-round'))
    expect(await call('GET', `/api/sftp/files?${at('/nfsshare/own/sub/round-and-round')}`)).toMatchObject({
      status: 409,
    })
  })

  test('that is swapped during 300 calls never gives a limited user a byte of others', async () => {
    await mkdir(join(share(), 'own/real'), { recursive: true })
    await writeFile(join(share(), 'own/real/own.txt'), 'of own')
    let isDone = false
    const swap = (async () => {
      for (let turn = 0; !isDone; turn++) {
        await symlink(turn % 2 ? '../treasure' : 'real', join(share(), 'own/next'))
        await rename(join(share(), 'own/next'), linkOnDisk())
      }
    })()
    const seen = new Set<unknown>()
    for (let turn = 0; turn < 300; turn++) {
      const { body } = await call('GET', `/api/sftp/file/content?${at(`${link}/own.txt`)}`)
      seen.add(body.success ? body.data.content : body.code)
    }
    isDone = true
    await swap
    expect([...seen].sort()).toEqual(['NOT_FOUND', 'of own'])
  })
})

test('an upload of a limited user goes into their own directory only, and its path comes before the files', async () => {
  const upload = (path: string, order: 'path first' | 'file first') => {
    const field = `--edge\r\nContent-Disposition: form-data; name="path"\r\n\r\n${path}\r\n`
    const file = '--edge\r\nContent-Disposition: form-data; name="files"; filename="new.txt"\r\n\r\nhello\r\n'
    return platform().app.inject({
      method: 'POST',
      url: '/api/sftp/upload',
      headers: { authorization: `Bearer ${guest().token}`, 'content-type': 'multipart/form-data; boundary=edge' },
      payload: `${order === 'path first' ? field + file : file + field}--edge--\r\n`,
    })
  }
  expect((await upload('/nfsshare/own', 'path first')).statusCode).toBe(201)
  expect((await upload('/nfsshare/treasure', 'path first')).statusCode).toBe(404)
  expect((await upload('/nfsshare', 'path first')).statusCode).toBe(404)
  const late = await upload('/nfsshare/own', 'file first')
  expect(late.json()).toMatchObject({ code: 'INVALID_INPUT', field: 'path' })
})

test('a download ticket is refused after the right was revoked', async () => {
  const download = await ticketFor('/nfsshare/own/own.txt')
  await rights().setAccess('guest', { role: 'limited', grants: [{ deployment: 'own', rights: ['view'] }] })
  expect((await download()).statusCode).toBe(404)
  await rights().setAccess('guest', { role: 'limited', grants: [{ deployment: 'own', rights: ['files'] }] })
})

test('an API key for the files of one deployment downloads them with a ticket', async () => {
  const key = await rights().createKey(admin(), { scopes: ['files'], deployments: ['own'] })
  const download = await ticketFor('/nfsshare/own/own.txt', key)
  expect((await download()).payload).toBe('of own')
  expect(await call('POST', '/api/sftp/download-ticket', { path: '/nfsshare/treasure/own.txt' }, key)).toMatchObject({
    status: 404,
  })
})
