import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { get, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { sql } from 'kysely'
import { io, type Socket } from 'socket.io-client'
import { WebSocket } from 'ws'
import { expectHeldUnder } from '../../support/platform/heldMemory'
import { isQueryWaiting } from '../../support/platform/isQueryWaiting'
import { rightsOf } from '../../support/platform/limitedUsers'
import { useRawConnections } from '../../support/platform/rawConnections'
import { usePlatform } from '../../support/platform/startPlatform'
import { until } from '../../support/platform/until'

const { platform, account: ann } = usePlatform('ann', () => ({ origins: ['https://console.example.com'] }))
let url: string
let sockets: Socket[] = []
const connect = useRawConnections(platform)

beforeAll(() => {
  url = `http://127.0.0.1:${(platform().app.server.address() as AddressInfo).port}`
})
afterEach(() => {
  for (const socket of sockets) socket.close()
  sockets = []
})

function open({
  token = ann().token,
  origin = url,
  transports = ['polling', 'websocket'],
}: { token?: string; origin?: string; transports?: string[] } = {}): Socket {
  const socket = io(url, {
    transports,
    reconnection: false,
    forceNew: true,
    extraHeaders: { origin, cookie: `isAdmin=1; token=${token}` },
  })
  sockets.push(socket)
  return socket
}

const outcome = (socket: Socket) =>
  new Promise<string>((resolve) => {
    socket.once('connect', () => resolve('connected'))
    socket.once('connect_error', (error) => resolve(error.message))
  })

/** The first request of a polling connection. */
async function poll(token: string): Promise<{ status: number; text: string }> {
  const answer = await fetch(`${url}/socket.io/?EIO=4&transport=polling`, {
    headers: { origin: url, cookie: `token=${token}` },
  })
  return { status: answer.status, text: await answer.text() }
}

test('decisions §6: a new socket gets CLIENT_HANDSHAKE and may answer', async () => {
  const socket = open()
  const greeting = await new Promise((resolve) => socket.once('message', resolve))
  expect(greeting).toEqual({ id: 'CLIENT_HANDSHAKE', data: { hello: expect.any(String) } })
  socket.emit('message', { id: 'SERVER_HANDSHAKE_ACK', data: { helloResponse: 'hello' } })
  for (const nonsense of [null, 7, {}, { id: 'OTHER' }, { data: {} }, 'x'.repeat(1000)])
    socket.emit('message', nonsense)
  await until(() => platform().logged.filter((line) => line.includes('does not follow the protocol')).length === 6)
  expect(socket.connected).toBe(true)
})

test('decisions §5: a new socket gets the sync state of the shared area, and then every change', async () => {
  const news: string[] = []
  const unwatch = platform().replicas.onSync(({ event }) => void news.push(event))
  await platform().call('POST', '/api/deployments', { token: ann().token, body: { name: 'lobby', type: 'scalable' } })
  // The manager has seen the deployment and now watches its directory.
  await until(() => news.at(-1) === 'sync_completed')
  unwatch()
  const heard: unknown[] = []
  open().on('message', (message: unknown) => heard.push(message))
  const sync = (event: string) => ({ id: 'CLIENT_FILE_SYNC', data: { event } })
  await until(() => heard.length === 2)
  expect(heard[1]).toEqual(sync('sync_completed'))
  await writeFile(join(platform().dataDir, 'nfsshare/lobby/motd.txt'), 'hello')
  await until(() => heard.length === 4)
  expect(heard.slice(2)).toEqual([sync('sync_started'), sync('sync_completed')])
})

test('decisions §16: a limited user gets no notifications of changed directories, which may be those of others', async () => {
  const guest = await platform().register('guest')
  await rightsOf(platform(), ann()).setAccess('guest', {
    role: 'limited',
    grants: [{ deployment: 'lobby', rights: [] }],
  })
  const listen = (token: string) => {
    const heard: unknown[] = []
    open({ token }).on('message', (message: unknown) => heard.push(message))
    return heard
  }
  const before = listen(guest.token)
  const operator = listen(ann().token)
  await until(() => before.length === 2 && operator.length === 2)
  let meanwhile: unknown[] = []
  const unwatch = platform().replicas.onSync(({ event }) => {
    if (event === 'sync_started') meanwhile = listen(guest.token)
  })
  await writeFile(join(platform().dataDir, 'nfsshare/lobby/motd.txt'), 'hello again')
  await until(() => operator.length === 4 && meanwhile.length === 2)
  unwatch()
  const isSynced = { id: 'CLIENT_FILE_SYNC', data: { event: 'sync_completed' } }
  expect([before[1], meanwhile[1]]).toEqual([isSynced, isSynced])
  expect(before).toHaveLength(2)
})

test.each([['polling'], ['websocket']])(
  'security 35, 41: over %s a foreign or null origin is refused despite a valid cookie',
  async (transport) => {
    for (const origin of ['http://evil.example', 'null', url.replace('127.0.0.1', '127.0.0.2'), 'nonsense']) {
      expect(await outcome(open({ origin, transports: [transport] }))).not.toBe('connected')
    }
    expect(await outcome(open({ transports: [transport] }))).toBe('connected')
    expect(await outcome(open({ origin: 'https://console.example.com', transports: [transport] }))).toBe('connected')
  },
)

test.each<[string, Record<string, string>, number]>([
  [
    'https page of a host that is used by https',
    { host: 'console.example.com', origin: 'https://console.example.com' },
    200,
  ],
  [
    'http page of a host that is configured with https',
    { host: 'console.example.com', origin: 'http://console.example.com' },
    403,
  ],
  [
    'http page of a host that a proxy serves by https',
    { origin: 'http://games.example', host: 'games.example', 'x-forwarded-proto': 'https' },
    403,
  ],
  [
    'http page of a host whose proxy says wss for WebSockets',
    { origin: 'http://games.example', host: 'games.example', 'x-forwarded-proto': 'wss' },
    403,
  ],
  [
    'http page of a host that the first of two proxies serves by https',
    { origin: 'http://games.example', host: 'games.example', 'x-forwarded-proto': 'https, http' },
    403,
  ],
  [
    'http page of a host that is used by http',
    { origin: 'http://games.example', host: 'games.example', 'x-forwarded-proto': 'http' },
    200,
  ],
])('security 116: the scheme of a socket’s page is checked: an %s', async (_case, headers, status) => {
  const asked = get(`${url}/socket.io/?EIO=4&transport=polling`, {
    headers: { ...headers, cookie: `token=${ann().token}`, connection: 'close' },
  })
  const [answer] = (await once(asked, 'response')) as [IncomingMessage]
  answer.resume()
  expect(answer.statusCode).toBe(status)
})

test('security 41: the refusal is a 403', async () => {
  const headers = { origin: 'http://evil.example', cookie: `token=${ann().token}` }
  expect((await fetch(`${url}/socket.io/?EIO=4&transport=polling`, { headers })).status).toBe(403)
})

test.each(['j=0', 'j=', '%6a=0', 'j=0&j=1', 'x=?&j=0', '?j=0&?&j'])(
  'security 128: a poll that asks for a script (%s), which a page of any origin may embed, is refused',
  async (query) => {
    const headers = { cookie: `token=${ann().token}` }
    expect((await fetch(`${url}/socket.io/?EIO=4&transport=polling&${query}`, { headers })).status).toBe(403)
  },
)

test('security 36: without a session no socket is opened', async () => {
  for (const transports of [['polling'], ['websocket']]) {
    for (const token of ['', 'nonsense', `${ann().token}x`])
      expect(await outcome(open({ token, transports }))).not.toBe('connected')
  }
  expect((await poll('nonsense')).status).toBe(403)
})

test('security 36: polls without a session open no connection and hold no memory, however many', async () => {
  await expectHeldUnder(8 * 2 ** 20, async () => {
    for (let round = 0; round < 60; round++) {
      const answers = await Promise.all(Array.from({ length: 50 }, () => poll('nonsense')))
      expect(answers.every(({ status }) => status === 403)).toBe(true)
    }
  })
})

test('a user may open 100 connections at most, and another one when one closes', async () => {
  const bob = await platform().register('bob')
  const answers = []
  for (let count = 0; count < 105; count++) answers.push(await poll(bob.token))
  expect(answers.map(({ status }) => status)).toEqual([...Array<number>(100).fill(200), ...Array<number>(5).fill(403)])
  const { sid } = JSON.parse(answers[0]!.text.slice(1)) as { sid: string }
  // Engine.IO's packet 1: close.
  await fetch(`${url}/socket.io/?EIO=4&transport=polling&sid=${sid}`, {
    method: 'POST',
    headers: { cookie: `token=${bob.token}` },
    body: '1',
  })
  await until(async () => (await poll(bob.token)).status === 200)
})

/** Sends the same handshakes at once, which wait until their user is read. @returns their answers' status */
async function handshakes(count: number, token: string, query: string, headers = ''): Promise<number[]> {
  const all = await Promise.all(
    Array.from({ length: count }, async () => {
      const socket = connect()
      await once(socket, 'connect')
      return socket
    }),
  )
  const answers = Promise.all(all.map(async (socket) => String((await once(socket, 'data'))[0]).split(' ')[1]))
  let arrived = 0
  const countArrival = () => void (arrived += 1)
  for (const event of ['request', 'upgrade']) platform().app.server.on(event, countArrival)
  await platform()
    .db.transaction()
    .execute(async (transaction) => {
      await sql`lock table users in access exclusive mode`.execute(transaction)
      for (const socket of all)
        socket.write(
          `GET /socket.io/?EIO=4&${query} HTTP/1.1\r\nHost: ${new URL(url).host}\r\nCookie: token=${token}\r\n${headers}\r\n`,
        )
      await until(() => arrived === count)
      await until(() => isQueryWaiting(platform().db))
    })
  for (const event of ['request', 'upgrade']) platform().app.server.off(event, countArrival)
  return (await answers).map(Number).sort()
}
const upgradeHeaders = `Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${Buffer.alloc(16).toString('base64')}\r\n`

test.each([
  ['polling', 'transport=polling', '', 200, 403],
  ['websocket', 'transport=websocket', upgradeHeaders, 101, 400],
])(
  'security 118: a user may open 100 connections at most, even if all are opened by %s at once',
  async (transport, query, headers, opened, refused) => {
    const user = await platform().register(`at-once-${transport}`)
    // The platform knows the token, but must read its user again.
    await platform().call('GET', '/api/account', { token: user.token })
    await platform().call('POST', '/api/auth/logout', { token: await platform().signIn(ann()) })
    expect(await handshakes(150, user.token, query, headers)).toEqual([
      ...Array<number>(100).fill(opened),
      ...Array<number>(50).fill(refused),
    ])
  },
)

test('security 154: connections that images of another page have begun leave room for those of the console', async () => {
  const user = await platform().register('images')
  // A browser sends the cookie and no `Origin` for an image.
  const image = () => fetch(`${url}/socket.io/?EIO=4&transport=polling`, { headers: { cookie: `token=${user.token}` } })
  for (let count = 0; count < 100; count++) expect((await image()).status).toBe(200)
  expect((await image()).status).toBe(403)

  expect(await outcome(open({ token: user.token, transports: ['websocket'] }))).toBe('connected')
})

test('a handshake that is not understood does not count towards the limit', async () => {
  const user = await platform().register('no-place')
  const headers = { cookie: `token=${user.token}` }
  for (let count = 0; count < 105; count++) {
    const answer = await fetch(`${url}/socket.io/?EIO=3&transport=polling`, { headers })
    expect(await answer.json()).toMatchObject({ message: 'Unsupported protocol version' })
  }
  expect((await poll(user.token)).status).toBe(200)
})

test('security 37: the end of a session closes its sockets only', async () => {
  const token = await platform().signIn(ann())
  const [leaving, staying] = [open({ token }), open()]
  expect(await Promise.all([outcome(leaving), outcome(staying)])).toEqual(['connected', 'connected'])
  const closed = new Promise((resolve) => leaving.once('disconnect', resolve))
  await platform().call('POST', '/api/auth/logout', { token })
  expect(await closed).toBe('io server disconnect')
  expect(staying.connected).toBe(true)
})

test.each([
  ['has joined no namespace', false],
  ['has left its namespace', true],
])('security 113: the end of a session closes a connection that %s', async (_case, leaves) => {
  const token = await platform().signIn(ann())
  const socket = new WebSocket(`${url.replace('http', 'ws')}/socket.io/?EIO=4&transport=websocket`, {
    origin: url,
    headers: { cookie: `token=${token}` },
  })
  const messages: string[] = []
  socket.on('message', (data: Buffer) => messages.push(data.toString()))
  await until(() => messages.length === 1)
  if (leaves) {
    socket.send('40')
    await until(() => messages.some((message) => message.includes('CLIENT_FILE_SYNC')))
    socket.send('41')
  }
  await platform().call('POST', '/api/auth/logout', { token })
  // Well before the 45 s after which socket.io closes a connection that has joined nothing.
  await until(() => socket.readyState === WebSocket.CLOSED, undefined, 10)
})

test('security 38: a huge message ends only its own socket', async () => {
  const [sender, other] = [open({ transports: ['websocket'] }), open()]
  await Promise.all([outcome(sender), outcome(other)])
  const closed = new Promise((resolve) => sender.once('disconnect', resolve))
  sender.emit('message', 'x'.repeat(1_000_000))
  await closed
  expect(other.connected).toBe(true)
  expect((await fetch(`${url}/api/health`)).status).toBe(200)
})
