import { once } from 'node:events'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import type { AddressInfo, Socket } from 'node:net'
import { join } from 'node:path'
import { expectHeldUnder } from '../../support/platform/heldMemory'
import { useRawConnections } from '../../support/platform/rawConnections'
import { useAccount, usePlatform, type Account } from '../../support/platform/startPlatform'
import { until } from '../../support/platform/until'

const { platform, account: ann } = usePlatform('ann')
const bob = useAccount(platform, 'bob')
const connect = useRawConnections(platform)
let share: string

beforeAll(() => {
  share = join(platform().dataDir, 'nfsshare')
})

/** Characters that JSON escapes with six characters each. */
const LONG_NAME = '\x01'.repeat(255)

/**
 * Makes a directory at the deepest possible path with this number of empty files, which take 23 kB each in the
 * response.
 */
function makeLong(leaf: string, files: number): string {
  const names = [...Array.from({ length: 13 }, () => LONG_NAME), leaf]
  mkdirSync(join(share, ...names), { recursive: true })
  for (let index = 0; index < files; index += 1)
    writeFileSync(join(share, ...names, `${'\x02'.repeat(200)}${index}`), '')
  return `/nfsshare/${names.join('/')}`
}

const list = (path: string, { token } = ann()) =>
  platform().call('GET', `/api/sftp/files?path=${encodeURIComponent(path)}`, { token })

/** Reads only the status, because parsing the response takes long. */
const statusOf = async (path: string) =>
  (
    await platform().app.inject({
      url: `/api/sftp/files?path=${encodeURIComponent(path)}`,
      headers: { authorization: `Bearer ${ann().token}` },
    })
  ).statusCode

/** Three directories: one user's memory limit allows the listings of two of them. */
let three: [string, string, string]
beforeAll(() => {
  three = [makeLong('a', 2000), makeLong('b', 2000), makeLong('c', 2000)]
})

/** Sends a request and reads only the first line of the response. */
async function askOnly(path: string, { token } = ann()): Promise<{ socket: Socket; status: number }> {
  const socket = connect()
  socket.write(
    `GET /api/sftp/files?path=${encodeURIComponent(path)} HTTP/1.1\r\nhost: test\r\nauthorization: Bearer ${token}\r\n\r\n`,
  )
  const [head] = (await once(socket, 'data')) as [Buffer]
  socket.pause()
  return { socket, status: Number(head.toString('latin1').split(' ')[1]) }
}

test('a directory whose listing would exceed 64 MiB gets 413 with a clear message, whatever its names consist of', async () => {
  const path = makeLong('long', 4500)
  await expectHeldUnder(50 * 2 ** 20, async () => {
    for (const _ of ['first', 'known to be long']) {
      expect(await list(path)).toMatchObject({
        status: 413,
        body: { code: 'TOO_LARGE', message: expect.stringContaining('more than can be listed') as string },
      })
    }
  })
  // This listing would fit into the limit of one process.
  expect(await list(makeLong('less', 3300))).toMatchObject({ status: 413 })
  expect(await list('/nfsshare')).toMatchObject({ status: 200 })
}, 180_000)

test('unread listings are limited per user and in total, and their memory is released when the client disconnects', async () => {
  const open: Socket[] = []
  const ask = async (path: string, account: Account) => {
    const { socket, status } = await askOnly(path, account)
    if (status === 200) open.push(socket)
    else socket.destroy()
    return status
  }
  expect([await ask(three[0], ann()), await ask(three[1], ann())]).toEqual([200, 200])
  expect(await list(three[2])).toMatchObject({
    status: 503,
    body: { code: 'UNAVAILABLE', message: 'Too many large responses are in progress. Try again in a moment.' },
  })
  expect([await ask(three[2], bob()), await ask(three[0], bob())]).toContain(200)
  for (const socket of open) socket.destroy()
  await until(async () => (await statusOf(three[2])) === 200)
  // A response that was read to its end holds no memory, however often it is requested.
  for (let round = 0; round < 6; round += 1) expect(await statusOf(three[round % 3]!)).toBe(200)
  const fetched = async (path: string) => {
    const { port } = platform().app.server.address() as AddressInfo
    const answer = await fetch(`http://127.0.0.1:${port}/api/sftp/files?path=${encodeURIComponent(path)}`, {
      headers: { authorization: `Bearer ${ann().token}` },
    })
    return ((await answer.json()) as { data: { files: unknown[] } }).data.files.length
  }
  for (let round = 0; round < 4; round += 1) expect(await fetched(three[round % 3]!)).toBe(2000)
}, 180_000)

/** Pipelines these requests on one connection (RFC 9112 §9.3.2), and disconnects after this time. */
async function askAndLeave(paths: string[], ms: number): Promise<void> {
  const socket = connect()
  const asked = paths.map(
    (path) =>
      `GET /api/sftp/files?path=${encodeURIComponent(path)} HTTP/1.1\r\nhost: test\r\nauthorization: Bearer ${ann().token}\r\n\r\n`,
  )
  socket.write(asked.join(''), () => setTimeout(() => socket.destroy(), ms))
  await once(socket, 'close')
}

test('a client that disconnects while a listing is read or queued holds no memory', async () => {
  const [first, second, third] = three
  // Two are the limit of one user: a third whose memory was not released would leave no room for these.
  const isAllFree = async () =>
    (await Promise.all([statusOf(second), statusOf(third)])).every((status) => status === 200)
  for (let round = 0; round < 12; round += 1) await askAndLeave([first], round * 5)
  await until(isAllFree)
  for (let round = 0; round < 4; round += 1) await askAndLeave([second, first], 400 + round * 400)
  await until(isAllFree)
}, 180_000)

test('names that are not UTF-8 are listed once in readable form and cannot be opened', async () => {
  mkdirSync(join(share, 'latin'))
  const put = (...bytes: number[]) =>
    writeFileSync(Buffer.concat([Buffer.from(join(share, 'latin/')), Buffer.from(bytes)]), 'text')
  put(0x6b, 0xe4, 0x73, 0x65)
  // Another name that decodes to the same text.
  put(0x6b, 0xf6, 0x73, 0x65)
  writeFileSync(join(share, 'latin/käse'), 'text')
  writeFileSync(join(share, 'latin/\ufffd'), 'text')
  put(0xff)
  const { files } = (await list('/nfsshare/latin')).body.data as {
    files: { name: string; path: string; isText: boolean; size: number }[]
  }
  expect(files.map(({ name, path, isText, size }) => [name, path, isText, size]).sort()).toEqual(
    [
      ['k\ufffdse', '/nfsshare/latin/k\ufffdse', false, 4],
      ['käse', '/nfsshare/latin/käse', true, 4],
      ['\ufffd', '/nfsshare/latin/\ufffd', true, 4],
    ].sort(),
  )
  expect(
    await platform().call('GET', `/api/sftp/file/content?path=${encodeURIComponent('/nfsshare/latin/k\ufffdse')}`, {
      token: ann().token,
    }),
  ).toMatchObject({ status: 404 })
})

test('a response is not cached by proxies, however its URL is written', async () => {
  for (const url of [
    '/api/sftp/files?path=%2Fnfsshare',
    '/%61pi/sftp/files?path=%2Fnfsshare',
    'http://console.example/api/sftp/files?path=%2Fnfsshare',
  ]) {
    const { statusCode, headers } = await platform().app.inject({
      url,
      headers: { authorization: `Bearer ${ann().token}` },
    })
    expect([statusCode, headers['cache-control'], headers['content-security-policy']]).toEqual([
      200,
      'no-store',
      undefined,
    ])
  }
})

test('decisions §18: a client that sends the current version of a listing gets 304', async () => {
  mkdirSync(join(share, 'versions'))
  writeFileSync(join(share, 'versions', 'a.txt'), '1')
  const ask = (version = '') =>
    platform().app.inject({
      url: '/api/sftp/files?path=%2Fnfsshare%2Fversions',
      headers: { authorization: `Bearer ${ann().token}`, ...(version && { 'if-none-match': version }) },
    })
  const first = await ask()
  const version = String(first.headers.etag)
  expect(version).toMatch(/^"[\w-]{27}"$/)
  const same = await ask(version)
  expect([same.statusCode, same.body, same.headers.etag]).toEqual([304, '', version])
  // A proxy that compresses turns the tag into a weak one, and a client may send several.
  expect((await ask(`W/${version}`)).statusCode).toBe(304)
  expect((await ask(`"another", W/${version}`)).statusCode).toBe(304)
  expect((await ask(`"another"`)).statusCode).toBe(200)
  writeFileSync(join(share, 'versions', 'a.txt'), '12')
  await until(async () => (await ask(version)).statusCode === 200)
  expect((await ask(version)).headers.etag).not.toBe(version)
  expect((await ask('"another"')).statusCode).toBe(200)
})

test('security 155: of hundreds of listings of a user, few are read at a time, and those of others overtake them', async () => {
  const directory = join(share, 'many')
  mkdirSync(directory)
  for (let index = 0; index < 5000; index += 1) writeFileSync(join(directory, String(index)), '')
  // Each path is a listing of its own.
  for (let index = 0; index < 200; index += 1) symlinkSync('many', join(share, `many-${index}`))
  let answered = 0
  const flood = Array.from({ length: 200 }, async (_listing, index) => {
    const { status } = await list(`/nfsshare/many-${index}`)
    answered += 1
    return status
  })
  await until(() => answered > 0)
  const before = answered
  expect(await list('/nfsshare', bob())).toMatchObject({ status: 200 })
  expect(answered - before).toBeLessThan(20)
  expect(new Set(await Promise.all(flood))).toEqual(new Set([200]))
})
