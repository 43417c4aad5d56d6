import { once } from 'node:events'
import { request, type ClientRequest, type IncomingMessage } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import Fastify, { type FastifyInstance } from 'fastify'
import { answerFailures } from '../../../src/platform/http/envelope'
import { readJsonBodies } from '../../../src/platform/http/jsonBody'
import { heldNow } from '../../support/platform/heldMemory'
import { useSockets } from '../../support/platform/rawConnections'
import { until } from '../../support/platform/until'

const MIB = 2 ** 20
/** Bytes of a body, below the limit without a session. */
const BODY = 60_000
/** Longer than any test: the time limit of a body would end requests on a busy machine. */
const NO_LIMIT_MS = 3_600_000
const connectTo = useSockets()
let app: FastifyInstance
let waiting = 0
let ended = 0
let end: () => void
let gate: Promise<void>
const sent: ClientRequest[] = []

beforeEach(async () => {
  waiting = 0
  ended = 0
  gate = new Promise((resolve) => (end = resolve))
  app = Fastify({ bodyLimit: 32 * MIB })
  app.decorateRequest('user', undefined)
  app.decorateRequest('activityActor', undefined)
  app.addHook('onRequest', async (incoming) => {
    incoming.user = { userId: 1, username: 'ann', role: 'operator', isAdmin: false, grants: new Map() }
  })
  answerFailures(app)
  readJsonBodies(app, NO_LIMIT_MS)
  app.post('/', async ({ body }) => {
    waiting += 1
    await gate
    ended += 1
    if ((body as { fails?: boolean }).fails) throw new Error('failed')
    return { success: true }
  })
  app.post('/short', { bodyLimit: MIB / 16 }, async () => ({ success: true }))
  await app.listen({ port: 0, host: '127.0.0.1' })
})
afterEach(async () => {
  end()
  for (const one of sent.splice(0)) one.destroy()
  await app.close()
})

function post(bytes: number, fields = {}): ClientRequest {
  const { port } = app.server.address() as AddressInfo
  const headers = { 'content-type': 'application/json' }
  const one = request({ port, host: '127.0.0.1', method: 'POST', agent: false, headers }).on('error', () => undefined)
  sent.push(one)
  one.end(JSON.stringify({ ...fields, content: 'x'.repeat(bytes) }))
  return one
}

const statusOf = async (one: ClientRequest) => {
  const [response] = (await once(one, 'response')) as [IncomingMessage]
  response.resume()
  return response.statusCode
}

test('security 68: large bodies count until their requests are answered, not only until they have arrived', async () => {
  const answers: Promise<number | undefined>[] = []
  for (let count = 1; count <= 6; count++) {
    answers.push(statusOf(post(10 * MIB)))
    await until(() => waiting === count)
  }
  expect(await statusOf(post(10 * MIB))).toBe(503)
  answers.push(statusOf(post(1000)))
  end()
  expect(await Promise.all(answers)).toEqual(Array(7).fill(200))
  expect(await statusOf(post(10 * MIB))).toBe(200)
})

test('security 68: the body of a client that has disconnected counts as long as its handler runs, and no longer', async () => {
  for (let count = 1; count <= 6; count++) {
    const one = post(10 * MIB, { fails: count > 3 })
    await until(() => waiting === count)
    one.destroy()
  }
  expect(await statusOf(post(10 * MIB))).toBe(503)
  end()
  await until(() => ended === 6)
  for (let count = 1; count <= 6; count++) expect(await statusOf(post(10 * MIB))).toBe(200)
})

/** Sends a body in chunks of this many bytes, but not its end. */
async function postInChunks(bytes: number, chunkBytes: number, path = '/'): Promise<Socket> {
  const socket = connectTo(app)
  socket.write(
    `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`,
  )
  const chunk = `${chunkBytes.toString(16)}\r\n${' '.repeat(chunkBytes)}\r\n`
  await new Promise((resolve) => socket.write(chunk.repeat(bytes / chunkBytes), resolve))
  return socket
}

test('security 147: bodies in small chunks hold about as much memory as others of their length', async () => {
  const connections: Socket[] = []
  app.server.on('connection', (socket) => connections.push(socket))
  const sum = (sizes: number[]) => sizes.reduce((one, other) => one + other, 0)
  const before = heldNow()
  const sockets = await Promise.all(Array.from({ length: 6 }, () => postInChunks(MIB, 16)))
  const written = sum(sockets.map(({ bytesWritten }) => bytesWritten))
  await until(() => sum(connections.map(({ bytesRead }) => bytesRead)) >= written)
  expect(heldNow() - before).toBeLessThan(24 * MIB)
})

test('security 147: a body in tiny chunks, each of which takes as long as a large one, is refused', async () => {
  const socket = await postInChunks(MIB / 128, 1, '/short')
  const [answer] = (await once(socket, 'data')) as [Buffer]
  expect(answer.toString()).toMatch(/^HTTP\/1.1 413 /)
  expect(answer.toString()).toContain('arrived in too many small parts. Send it in larger ones.')
})

test('security 147: the rest of a refused body in tiny chunks is not read for long', async () => {
  const connections: Socket[] = []
  app.server.on('connection', (connection) => connections.push(connection))
  await postInChunks(MIB, 1, '/short')
  await until(() => connections[0]?.destroyed, Boolean, 15)
  expect(connections[0]?.bytesRead).toBeLessThan(MIB / 2)
})

test('security 213: where unfinished bodies take all memory, another client’s body ends the oldest of the client that holds most', async () => {
  const small = Fastify()
  small.decorateRequest('user', undefined)
  small.decorateRequest('activityActor', undefined)
  small.addHook('onRequest', async (incoming) => {
    incoming.activityActor = String(incoming.headers.from)
  })
  answerFailures(small)
  readJsonBodies(small, NO_LIMIT_MS, 8 * BODY)
  small.post('/', async () => ({ success: true }))
  await small.listen({ port: 0, host: '127.0.0.1' })
  /** Sends a body, of which a byte may be missing. */
  const send = (user: string, missing: number) => {
    const socket = connectTo(small)
    socket.write(
      `POST / HTTP/1.1\r\nHost: x\r\nFrom: ${user}\r\nContent-Type: application/json\r\nContent-Length: ${BODY}\r\n\r\n`,
    )
    socket.write(`{}${' '.repeat(BODY - 2 - missing)}`)
    return socket
  }
  const answer = async (socket: Socket) => String((await once(socket, 'data')) as [Buffer]).slice(9, 12)
  const served: Socket[] = []
  small.server.on('connection', (socket) => served.push(socket))
  try {
    const held = []
    for (const user of ['ann', 'bob', 'bob', 'cat', 'dan', 'eve', 'gus', 'hal']) {
      held.push(send(user, 1))
      await until(() => served.length === held.length && served.every(({ bytesRead }) => bytesRead >= BODY))
    }
    expect(await answer(send('fay', 0))).toBe('200')
    expect(await answer(held[1]!)).toBe('503')
    for (const index of [0, 2, 3, 4, 5, 6, 7]) {
      held[index]!.write(' ')
      expect(await answer(held[index]!)).toBe('200')
    }
  } finally {
    for (const one of sent.splice(0)) one.destroy()
    await small.close()
  }
})
