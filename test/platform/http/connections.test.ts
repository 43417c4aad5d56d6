import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import type { AddressInfo, Socket } from 'node:net'
import Fastify, { type FastifyInstance } from 'fastify'
import { createTrustedProxies } from '../../../src/platform/accounts/clientAddress'
import { closeConnectionsOnShutdown, limitConnections } from '../../../src/platform/http/limits/connections'
import { openFileLimits } from '../../../src/platform/openFiles'
import { answerFailures } from '../../../src/platform/http/envelope'
import { useSockets } from '../../support/platform/rawConnections'
import { until } from '../../support/platform/until'

const connectTo = useSockets()
let app: FastifyInstance | undefined
let logged: string[]
let slowCalls = 0

const connectFrom = (localAddress: string) => connectTo(app!, localAddress)
/** Connects this many times. */
const connectAll = (count: number, addressOf: (index: number) => string, onClose: () => void) =>
  Array.from({ length: count }, (_, index) => connectFrom(addressOf(index)).on('close', onClose))
const noConnections = () =>
  until(() => new Promise((resolve) => app!.server.getConnections((_error, count) => resolve(count === 0))))

async function listenWith(openFiles: number, proxies: string[] = []): Promise<number> {
  logged = []
  app = Fastify({
    forceCloseConnections: true,
    logger: { level: 'warn', stream: { write: (line: string) => void logged.push(line) } },
  })
  answerFailures(app)
  limitConnections(app, createTrustedProxies(proxies), openFiles)
  app.get('/', () => 'here')
  app.get('/slow', () => {
    slowCalls += 1
    return new Promise(() => undefined)
  })
  closeConnectionsOnShutdown(app)
  await app.listen({ host: '127.0.0.1', port: 0 })
  return (app.server.address() as AddressInfo).port
}

afterEach(async () => {
  await app?.close()
})

test('the limits of open files are read from the system', () => {
  // A child process inherits the limit.
  const inChild = (limit: string) => Number(execFileSync('sh', ['-c', `ulimit ${limit}`], { encoding: 'utf8' }))
  expect(openFileLimits()).toEqual({ soft: inChild('-Sn'), hard: inChild('-Hn') })
})

test('connections are limited to half of the open files; the first refusal is logged, and new ones are accepted when some close', async () => {
  const port = await listenWith(21)
  let refused = 0
  const opened = connectAll(
    15,
    (index) => `127.0.0.${2 + (index % 3)}`,
    () => (refused += 1),
  )
  await until(() => refused === 5)
  expect(logged.filter((line) => line.includes('refusing connections: too many are open. '))).toHaveLength(1)
  for (const socket of opened) socket.destroy()
  await noConnections()
  expect((await fetch(`http://127.0.0.1:${port}/`)).status).toBe(200)
})

test('a connection that cannot be accepted is logged and does not end the platform', async () => {
  const port = await listenWith(1000)
  // Node.js emits this if no descriptor is left even to refuse the connection, because another thread took it.
  app!.server.emit('error', Object.assign(new Error('accept EMFILE'), { code: 'EMFILE' }))
  expect(logged.filter((line) => line.includes('failed to accept a connection'))).toHaveLength(1)
  expect((await fetch(`http://127.0.0.1:${port}/`)).status).toBe(200)
})

test('all instances together are limited to a quarter of the connections, whatever their users, and other clients are served', async () => {
  const port = await listenWith(80)
  // As labelLocalConnections does (proxies/localConnections.ts).
  app!.server.prependListener('connection', (socket) => {
    const [, user] = /^127\.0\.0\.(1\d\d)$/.exec(socket.remoteAddress ?? '') ?? []
    if (user) Object.defineProperty(socket, 'remoteAddress', { value: `user 1900000${user} of this machine` })
  })
  let refused = 0
  const opened = connectAll(
    15,
    (index) => `127.0.0.${101 + (index % 5)}`,
    () => (refused += 1),
  )
  await until(
    () => refused,
    (count) => count === 5,
    5,
  )
  expect((await fetch(`http://127.0.0.1:${port}/`, { headers: { connection: 'close' } })).status).toBe(200)
  for (const socket of opened) socket.destroy()
  await noConnections()
  const again = connectFrom('127.0.0.101')
  again.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  const [answer] = (await once(again, 'data')) as [Buffer]
  expect(answer.toString()).toMatch(/^HTTP\/1\.1 200/)
})

test('one address is limited to half of the connections; the first refusal is logged, and other addresses are served', async () => {
  const port = await listenWith(40)
  let refused = 0
  const opened = connectAll(
    15,
    () => '127.0.0.2',
    () => (refused += 1),
  )
  await until(
    () => refused,
    (count) => count === 5,
    5,
  )
  expect(logged.map((line) => JSON.parse(line) as object)).toEqual([
    expect.objectContaining({
      msg: 'refusing connections: too many are open from one address',
      limit: 10,
      address: '127.0.0.2',
    }),
  ])
  expect((await fetch(`http://127.0.0.1:${port}/`, { headers: { connection: 'close' } })).status).toBe(200)
  for (const socket of opened) socket.destroy()
  await noConnections()
  const again = connectFrom('127.0.0.2')
  again.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  expect(String((await once(again, 'data'))[0])).toMatch(/^HTTP\/1.1 200 /)
})

test('behind a trusted proxy, calls are counted per forwarded address rather than connections of the proxy', async () => {
  await listenWith(100, ['127.0.0.3'])
  const proxied = (client: string, path: string) => {
    const socket = connectFrom('127.0.0.3')
    socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ${client}\r\n\r\n`)
    return socket
  }
  const status = async (socket: Socket) => Number(String((await once(socket, 'data'))[0]).slice(9, 12))
  const slow = Array.from({ length: 25 }, () => proxied('192.0.2.1', '/slow'))
  expect(await status(proxied('192.0.2.1', '/'))).toBe(429)
  expect(await status(proxied('192.0.2.2', '/'))).toBe(200)
  for (const socket of slow) socket.destroy()
  await until(async () => (await status(proxied('192.0.2.1', '/'))) === 200)
})

test('behind a trusted proxy, an upgrade above the limit of its forwarded address is closed', async () => {
  await listenWith(40, ['127.0.0.3'])
  app!.server.on('upgrade', (_request, socket: Socket) => {
    socket
      .on('error', () => undefined)
      .on('end', () => socket.destroy())
      .resume()
    socket.write('HTTP/1.1 101 Switching Protocols\r\n\r\n')
  })
  const upgrade = (client: string) => {
    const socket = connectFrom('127.0.0.3')
    socket.write(
      `GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nX-Forwarded-For: ${client}\r\n\r\n`,
    )
    return new Promise((resolve) =>
      socket.once('data', () => resolve('upgraded')).once('close', () => resolve('closed')),
    )
  }
  expect(new Set(await Promise.all(Array.from({ length: 10 }, () => upgrade('192.0.2.1'))))).toEqual(
    new Set(['upgraded']),
  )
  expect(await upgrade('192.0.2.1')).toBe('closed')
  expect(await upgrade('192.0.2.2')).toBe('upgraded')
})

test('a shutdown ends responses in progress after its grace period, also when the clock is set back meanwhile', async () => {
  await listenWith(100)
  const before = slowCalls
  const socket = connectFrom('127.0.0.1')
  const ended = once(socket, 'close')
  socket.write('GET /slow HTTP/1.1\r\nHost: x\r\n\r\n')
  await until(() => slowCalls > before)
  const closing = app!.close()
  await until(() => !app!.server.listening)
  const now = Date.now.bind(Date)
  const clock = jest.spyOn(Date, 'now').mockImplementation(() => now() - 3_600_000)
  try {
    await Promise.all([closing, ended])
  } finally {
    clock.mockRestore()
  }
})
