/** @jest-environment node */
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:http'
import type { ServerOptions, Socket } from 'socket.io'
import { Server } from 'socket.io'
import { firstViewShown } from '../../../src/web/chunks'
import { connectRealtime } from '../../../src/web/sockets/connectRealtime'
import { openRealtime } from '../../../src/web/sockets/openRealtime'
import type { RealtimeConnection } from '../../../src/web/sockets/realtimeSocket'
import { awakeMs } from '../../support/time/awakeMs'

/** A real server on a free port; everything a test opens is closed after it. */
async function startServer(options: Partial<ServerOptions> = {}) {
  const server = createServer()
  const io = new Server(server, options)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  closing.push(async () => void (await io.close()))
  return { io, origin }
}

const closing: (() => void | Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

function follow(origin: string) {
  const heard: unknown[] = []
  const waiting: (() => void)[] = []
  const tell = (what: unknown) => {
    heard.push(what)
    for (const check of waiting) check()
  }
  const connection = connectRealtime(
    { connected: () => tell('connected'), disconnected: () => tell('disconnected'), received: tell },
    origin,
  )
  closing.push(() => connection.close())
  const until = (count: number) =>
    new Promise<void>((resolve) => {
      const check = () => heard.length >= count && resolve()
      waiting.push(check)
      check()
    })
  return { connection, heard, until }
}

const nextSocket = (io: Server) => new Promise<Socket>((resolve) => io.once('connection', resolve))

/** Engine.IO waits 30 s for a closing polling client, but not for a WebSocket client. */
const upgraded = ({ conn }: Socket) =>
  new Promise<void>((resolve) => (conn.upgraded ? resolve() : conn.once('upgrade', () => resolve())))

// First: the promise of the first view stays resolved.
test('the connection waits for the first view of the page', async () => {
  const { io, origin } = await startServer()
  let arrivals = 0
  io.on('connection', () => (arrivals += 1))
  follow(origin)
  // A connection that was opened later, but does not wait.
  const listener = { connected: jest.fn(), disconnected: jest.fn(), received: jest.fn() }
  const later = nextSocket(io)
  const { close } = openRealtime(listener, origin)
  closing.push(close)
  await upgraded(await later)
  expect(arrivals).toBe(1)
  const waiting = nextSocket(io)
  firstViewShown()
  await upgraded(await waiting)
  expect(arrivals).toBe(2)
})

test('§7 §9 the client connects by long-polling, upgrades to WebSocket and carries messages both ways', async () => {
  const { io, origin } = await startServer()
  const arrived = nextSocket(io)
  const { connection, heard, until } = follow(origin)
  const socket = await arrived
  expect(socket.conn.transport.name).toBe('polling')
  // Version 5 of the Socket.IO protocol uses version 4 of Engine.IO.
  expect(socket.conn.protocol).toBe(4)
  await upgraded(socket)
  expect(socket.conn.transport.name).toBe('websocket')

  await until(1)
  expect(connection.connected()).toBe(true)
  socket.emit('message', { id: 'CLIENT_FILE_SYNC', data: { event: 'sync_started' } })
  await until(2)
  expect(heard).toEqual(['connected', { id: 'CLIENT_FILE_SYNC', data: { event: 'sync_started' } }])

  const received = new Promise((resolve) => socket.once('message', resolve))
  connection.send({ id: 'SERVER_HANDSHAKE_ACK', data: { helloResponse: 'x' } })
  expect(await received).toEqual({ id: 'SERVER_HANDSHAKE_ACK', data: { helloResponse: 'x' } })
})

test('§9 a lost connection is re-established', async () => {
  const { io, origin } = await startServer()
  const arrived = nextSocket(io)
  const { heard, until } = follow(origin)
  const socket = await arrived
  await upgraded(socket)
  await until(1)
  const again = nextSocket(io)
  socket.conn.close()
  await upgraded(await again)
  await until(3)
  expect(heard).toEqual(['connected', 'disconnected', 'connected'])
})

test('§4 closing the connection disconnects from the server and emits no further events', async () => {
  const { io, origin } = await startServer()
  const arrived = nextSocket(io)
  const { connection, heard, until } = follow(origin)
  const socket = await arrived
  await upgraded(socket)
  await until(1)
  const gone = new Promise((resolve) => socket.once('disconnect', resolve))
  connection.close()
  await gone
  expect(heard).toEqual(['connected'])
  expect(connection.connected()).toBe(false)
})

test('§4 a connection closed before the client library has loaded is never opened', async () => {
  const { io, origin } = await startServer()
  let arrivals = 0
  io.on('connection', () => (arrivals += 1))
  const early: RealtimeConnection = follow(origin).connection
  early.close()
  // A second connection, opened later, is the only one to arrive.
  const arrived = nextSocket(io)
  follow(origin)
  await upgraded(await arrived)
  expect(arrivals).toBe(1)
})

/** Refuses as the platform does when the user's places are used up. */
const refusePolling: ServerOptions['allowRequest'] = ({ headers }, decide) =>
  headers.upgrade === undefined ? decide('TOO_MANY', false) : decide(null, true)

test.each<[string, Partial<ServerOptions>]>([
  ['the server refuses long-polling', { transports: ['websocket'] }],
  ['the user’s places of long-polling are used up', { allowRequest: refusePolling }],
])('§15 if %s, the client connects by WebSocket at once and reports no lost connection', async (_reason, options) => {
  const { io, origin } = await startServer(options)
  const arrived = nextSocket(io)
  const { heard, until } = follow(origin)
  const ms = await awakeMs(async () => {
    await arrived
    await until(1)
  })
  // Less than the first delay of socket.io.
  expect(ms).toBeLessThan(500)
  expect(heard).toEqual(['connected'])
  const socket = await arrived
  expect(socket.conn.transport.name).toBe('websocket')
  socket.disconnect(true)
  await until(2)
  expect(heard[1]).toBe('disconnected')
})
