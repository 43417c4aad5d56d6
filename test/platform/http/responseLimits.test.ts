import { once } from 'node:events'
import type { Socket } from 'node:net'
import { PassThrough, Readable } from 'node:stream'
import Fastify from 'fastify'
import { AppError } from '../../../src/platform/errors'
import { answerFailures } from '../../../src/platform/http/envelope'
import { createResponseBuffers, limitResponses } from '../../../src/platform/http/limits/responseLimits'
import { useSockets } from '../../support/platform/rawConnections'
import { until } from '../../support/platform/until'

const LENGTH = 60 * 2 ** 20
const connectTo = useSockets()

test('a client that reads nothing of a long response is disconnected, and a slow reader is not', async () => {
  const app = Fastify()
  limitResponses(app, createResponseBuffers(), 1000)
  app.get('/', async (_request, reply) => reply.send(Buffer.alloc(LENGTH)))
  const connections = new Set<Socket>()
  app.server.on('connection', (socket) => connections.add(socket))
  await app.listen({ port: 0, host: '127.0.0.1' })
  const ask = () => {
    const socket = connectTo(app)
    socket.write('GET / HTTP/1.1\r\nhost: test\r\nconnection: close\r\n\r\n')
    return socket
  }
  try {
    // Two rounds, because two responses that were never released would fill the limit of one user.
    for (let round = 0; round < 2; round += 1) {
      const silent = ask()
      await once(silent, 'readable')
      const served = [...connections].at(-1)!
      if (!served.closed) await once(served, 'close')
      silent.destroy()
    }
    const slow = ask()
    let read = 0
    for await (const chunk of slow) {
      const before = read
      read += (chunk as Buffer).length
      // In total this takes twice as long as a client may be silent.
      if (Math.floor(read / (LENGTH / 8)) > Math.floor(before / (LENGTH / 8)))
        await new Promise((resolve) => setTimeout(resolve, 300))
    }
    expect(read).toBeGreaterThan(LENGTH)
  } finally {
    await app.close()
  }
})

test('a response whose source stalls, such as a file of a slow disk, is continued however long that takes', async () => {
  const app = Fastify()
  limitResponses(app, createResponseBuffers(), 100)
  const source = new PassThrough()
  const checks = jest.spyOn(globalThis, 'setInterval')
  app.get('/', async (_request, reply) => reply.send(source))
  await app.listen({ port: 0, host: '127.0.0.1' })
  try {
    source.write('first,')
    const client = connectTo(app)
    let received = ''
    client.on('data', (chunk: Buffer) => (received += chunk.toString()))
    checks.mockClear()
    client.write('GET / HTTP/1.1\r\nhost: test\r\nconnection: close\r\n\r\n')
    await until(() => received.includes('first,'))
    const check = checks.mock.calls.find(([, interval]) => interval === 100)![0]
    for (let count = 0; count < 10; count += 1) check()
    source.end('last')
    await once(client, 'close')
    expect(received).toContain('last')
  } finally {
    checks.mockRestore()
    await app.close()
  }
})

test('security 211: where unread responses of two users take all memory, another user’s response ends one of them', async () => {
  const app = Fastify()
  limitResponses(app, createResponseBuffers(), 60_000)
  app.decorateRequest('activityActor')
  app.addHook('onRequest', async (request) => {
    request.activityActor = String(request.headers.from)
  })
  app.get('/', async (_request, reply) => reply.send(Buffer.alloc(LENGTH)))
  const served: Socket[] = []
  app.server.on('connection', (socket) => served.push(socket))
  await app.listen({ port: 0, host: '127.0.0.1' })
  const statusFor = async (user: string) => {
    const client = connectTo(app).pause()
    client.write(`GET / HTTP/1.1\r\nhost: test\r\nfrom: ${user}\r\n\r\n`)
    await once(client, 'readable')
    return String(client.read(12)).slice(9)
  }
  try {
    for (const user of ['ann', 'ann', 'bob', 'bob']) expect(await statusFor(user)).toBe('200')
    expect(await statusFor('bob')).toBe('503')
    expect(await statusFor('cat')).toBe('200')
    await until(() => served[0]!.closed)
    expect(served.slice(1, 4).map(({ closed }) => closed)).toEqual([false, false, false])
    // With another one, this user would hold as much as any other.
    expect(await statusFor('cat')).toBe('503')
  } finally {
    await app.close()
  }
})

test('security 200: a client that disconnects before its response leaves no timer behind', async () => {
  const app = Fastify()
  limitResponses(app, createResponseBuffers(), 60_000)
  let respond = () => {}
  const isAnswered = new Promise<void>((resolve) => (respond = resolve))
  const accepted = once(app.server, 'connection')
  let asked = 0
  app.get('/', async () => {
    asked += 1
    await isAnswered
    return 'late'
  })
  const sent: unknown[] = []
  app.addHook('onSend', async (request) => void sent.push(request))
  const [started, ended] = [jest.spyOn(globalThis, 'setInterval'), jest.spyOn(globalThis, 'clearInterval')]
  try {
    await app.listen({ port: 0, host: '127.0.0.1' })
    const client = connectTo(app)
    client.write('GET / HTTP/1.1\r\nhost: test\r\n\r\n')
    const [served] = (await accepted) as [Socket]
    await until(() => asked === 1)
    client.destroy()
    await until(() => served.closed)
    started.mockClear()
    respond()
    await until(() => sent.length === 1)
    const timers = started.mock.results.map(({ value }) => value as NodeJS.Timeout)
    expect(timers.filter((timer) => !ended.mock.calls.some(([of]) => of === timer))).toEqual([])
  } finally {
    started.mockRestore()
    ended.mockRestore()
    await app.close()
  }
})

test.each([
  ['of its own request', 'GET / HTTP/1.1\r\nhost: test\r\ncontent-length: 1000\r\n\r\n'],
  [
    'of the next request',
    'GET / HTTP/1.1\r\nhost: test\r\n\r\nGET /other HTTP/1.1\r\nhost: test\r\ncontent-length: 1000\r\n\r\n',
  ],
])(
  'security 192: a client that reads nothing is disconnected although it goes on to send the body %s',
  async (_which, requests) => {
    const app = Fastify()
    limitResponses(app, createResponseBuffers(), 500)
    app.get('/', async (_request, reply) => reply.send(Buffer.alloc(LENGTH)))
    const accepted = once(app.server, 'connection')
    await app.listen({ port: 0, host: '127.0.0.1' })
    const silent = connectTo(app)
    const sending = setInterval(() => silent.write('x'), 100)
    try {
      silent.pause().write(requests)
      const [served] = (await accepted) as [Socket]
      await until(() => served.closed)
    } finally {
      clearInterval(sending)
      silent.destroy()
      await app.close()
    }
  },
)

test('security 120: a stream that fails before its first byte gets an error in the standard format, without the headers of its content', async () => {
  const app = Fastify()
  answerFailures(app)
  const failing = () =>
    new Readable({
      read() {
        this.destroy(new AppError('UNAVAILABLE', 'The disk does not answer.'))
      },
    })
  app.get('/', async (_request, reply) =>
    reply
      .headers({ 'x-request-id': '1', 'content-length': 1000, etag: '"a"', 'cache-control': 'immutable' })
      .header('content-disposition', 'attachment; filename="world.zip"')
      .type('application/zip')
      .send(failing()),
  )
  const { statusCode, headers, body } = await app.inject('/')
  await app.close()
  expect(statusCode).toBe(503)
  expect(JSON.parse(body)).toMatchObject({ success: false, code: 'UNAVAILABLE' })
  expect(headers).toMatchObject({ 'content-type': 'application/json; charset=utf-8', 'x-request-id': '1' })
  for (const name of ['etag', 'cache-control', 'content-disposition']) expect(headers).not.toHaveProperty(name)
  expect(headers['content-length']).toBe(String(Buffer.byteLength(body)))
})
