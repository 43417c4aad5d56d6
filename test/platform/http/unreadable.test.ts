import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { writeFile } from 'node:fs/promises'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { useRawConnections } from '../../support/platform/rawConnections'
import { useEmptyPlatform } from '../../support/platform/startPlatform'
import { until } from '../../support/platform/until'

/** No other timer of the platform has this length. */
const BODY_MS = 317
const platform = useEmptyPlatform(() => ({ bodyMs: BODY_MS }))
const connect = useRawConnections(platform)

/** Sends these bytes and returns the response once the server closes the connection. */
async function answerTo(...pieces: string[]): Promise<{ status: number; head: string; body: unknown }> {
  const socket = connect()
  let text = ''
  socket.on('data', (chunk: Buffer) => (text += chunk.toString()))
  for (const piece of pieces) socket.write(piece)
  await once(socket, 'close')
  const [head = '', body = ''] = text.split('\r\n\r\n')
  return {
    status: Number(/^HTTP\/1.1 (\d+)/.exec(head)?.[1]),
    head: head.toLowerCase(),
    body: JSON.parse(body) as unknown,
  }
}

test.each([
  [
    'a header that is too large',
    'GET / HTTP/1.1\r\nHost: x\r\nCookie: ' + 'x'.repeat(20_000) + '\r\n\r\n',
    431,
    'HEADER_TOO_LARGE',
    'The request’s header is too large.',
  ],
  ['input that is not HTTP', 'NONSENSE\r\n\r\n', 400, 'INVALID_INPUT', 'This is not a valid HTTP request.'],
  [
    'two hosts',
    'GET /api/health HTTP/1.1\r\nHost: x\r\nhost: x\r\nConnection: close\r\n\r\n',
    400,
    'INVALID_INPUT',
    'The request has more than one host.',
  ],
  [
    'an invalid length',
    'POST /api/auth/login HTTP/1.1\r\nHost: x\r\nContent-Length: a\r\n\r\n',
    400,
    'INVALID_INPUT',
    'This is not a valid HTTP request.',
  ],
  [
    'two lengths',
    'POST /api/auth/login HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}',
    400,
    'INVALID_INPUT',
    'This is not a valid HTTP request.',
  ],
  [
    'a request without a host',
    'GET /api/health HTTP/1.1\r\nConnection: close\r\n\r\n',
    400,
    'INVALID_INPUT',
    'The request has no Host header.',
  ],
  [
    'a method of RTSP, which the parser of Node.js accepts,',
    'DESCRIBE /api/health RTSP/1.0\r\nHost: x\r\n\r\n',
    400,
    'INVALID_INPUT',
    'This is not a valid HTTP request.',
  ],
  [
    'a URL with an invalid escape',
    'GET /%zz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
    400,
    'INVALID_INPUT',
    'The URL is not valid.',
  ],
])(
  'decisions §1: %s is answered in the standard error format, and the connection is closed',
  async (_case, request, status, code, message) => {
    const answer = await answerTo(request)
    expect(answer).toMatchObject({ status, body: { success: false, code, message, error: message } })
    expect(answer.head).toContain('content-type: application/json')
    expect(answer.head).toContain('connection: close')
    expect(answer.head).toContain('cache-control: no-store')
    expect(answer.head).toContain('x-content-type-options: nosniff')
  },
)

test('decisions §1: a request whose header never ends gets 408', async () => {
  const { server } = platform().app
  const socket = connect()
  let text = ''
  socket.on('data', (chunk: Buffer) => (text += chunk.toString()))
  const [accepted] = (await once(server, 'connection')) as [Socket]
  // Node.js emits this after `headersTimeout`, which is a minute.
  server.emit('clientError', Object.assign(new Error('timed out'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' }), accepted)
  await once(socket, 'close')
  expect(text).toMatch(/^HTTP\/1.1 408 Request Timeout\r\n/)
  expect(text).toContain('"code":"TOO_SLOW"')
})

test.each(['application/json', 'Application/JSON', 'APPLICATION/json;Charset=UTF-8'])(
  'an incomplete body of type %s gets 408 after the time-out, and the connection is closed',
  async (type) => {
    const begun = performance.now()
    const answer = await answerTo(
      `POST /api/auth/login HTTP/1.1\r\nHost: x\r\nContent-Type: ${type}\r\nContent-Length: 100\r\n\r\n`,
      '{"username":',
    )
    expect(performance.now() - begun).toBeGreaterThanOrEqual(BODY_MS - 5)
    expect(answer).toMatchObject({
      status: 408,
      body: { success: false, code: 'TOO_SLOW', message: 'The request did not arrive in time.' },
    })
    expect(answer.head).toContain('connection: close')
  },
)

test('a call that does not read its body sets no body time-out, and an unread response ends only its connection', async () => {
  const { token } = await platform().register('olga')
  await writeFile(join(platform().dataDir, 'nfsshare/long.txt'), 'x'.repeat(4 * 2 ** 20))
  const wait = jest.spyOn(globalThis, 'setTimeout')
  const reader = connect()
  try {
    reader.pause()
    reader.write(
      `GET /api/sftp/file/content?path=/nfsshare/long.txt HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\n\r\n`.repeat(
        4,
      ),
    )
    const [{ socket }] = (await once(platform().app.server, 'request')) as [IncomingMessage]
    await until(() => socket.bytesWritten > 0)
    // This takes as long as the time-out of the first request, which would end the process now if it had not been
    // cleared.
    expect(
      await answerTo(
        'POST /api/auth/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n',
        '{',
      ),
    ).toMatchObject({ status: 408 })
    expect(wait.mock.calls.filter(([, ms]) => ms === BODY_MS)).toHaveLength(1)
  } finally {
    wait.mockRestore()
    reader.destroy()
  }
})

test('an aborted body leaves no error behind, and the next one is read', async () => {
  const socket = connect()
  socket.write(
    'POST /api/auth/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"username":',
  )
  const [request] = (await once(platform().app.server, 'request')) as [IncomingMessage]
  socket.destroy()
  await once(request.socket, 'close')
  const answer = await platform().call('POST', '/api/auth/login', {
    body: { username: 'ann', password: 'wrong password' },
  })
  expect(answer).toMatchObject({ status: 400, body: { code: 'BAD_CREDENTIALS' } })
  expect(platform().logged.filter((line) => line.includes('"level":50'))).toEqual([])
})

test('a body whose client disconnects during authentication is not waited for', async () => {
  const { token } = await platform().register('ann')
  const wait = jest.spyOn(globalThis, 'setTimeout')
  try {
    // Authentication queries the database, so this happens before it is done.
    platform().app.server.once('request', (request: IncomingMessage) => request.socket.destroy())
    const socket = connect()
    socket.write(
      `POST /api/sftp/directory HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"path":`,
    )
    await once(socket, 'close')
    for (let round = 0; round < 5; round += 1)
      expect(await platform().call('GET', '/api/sftp/files?path=/nfsshare', { token })).toMatchObject({ status: 200 })
    expect(wait.mock.calls.filter(([, ms]) => ms === BODY_MS)).toEqual([])
  } finally {
    wait.mockRestore()
  }
})

test.each(['h2c', 'TLS/1.0', 'websockets', 'h2c, IRC/6.9'])(
  'security 111: a request with an Upgrade header for %s is answered without an upgrade, and so is the next one on its connection',
  async (protocol) => {
    const head = `HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nUpgrade: ${protocol}\r\nConnection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n`
    const socket = connect()
    let text = ''
    socket.on('data', (chunk: Buffer) => (text += chunk.toString()))
    const statuses = () => [...text.matchAll(/HTTP\/1.1 (\d+)/g)].map(([, status]) => Number(status))
    socket.write(`GET /api/health/live ${head}\r\n`)
    await until(() => statuses().length === 1)
    const body = JSON.stringify({ username: 'nobody', password: 'of that name' })
    socket.write(`POST /api/auth/login ${head}Content-Length: ${body.length}\r\n\r\n`)
    socket.write(body)
    await until(() => statuses().length === 2)
    socket.write(`GET /api/health/live HTTP/1.1\r\nHost: x\r\n\r\n`)
    await until(() => statuses().length === 3)
    socket.destroy()
    expect(statuses()).toEqual([200, 400, 200])
    // The body has arrived.
    expect(text).toContain('BAD_CREDENTIALS')
  },
)

test.each([
  ['GET', 'GET /api/health/live HTTP/1.1\r\nHost: x\r\nConnection: close\r\n', 200],
  ['GET without a host', 'GET /api/health/live HTTP/1.1\r\nConnection: close\r\n', 400],
])('security 125: a %s that expects something unknown is answered as without it', async (_case, head, status) => {
  expect(await answerTo(`${head}Expect: the-impossible\r\n\r\n`)).toMatchObject({
    status,
    body: { success: status === 200 },
  })
})

test('security 125: a request with a method of RTSP is not logged as an error', async () => {
  const before = platform().logged.length
  await answerTo('DESCRIBE / RTSP/1.0\r\nHost: x\r\n\r\n')
  expect(
    platform()
      .logged.slice(before)
      .filter((line) => !/"level":[123]0/.test(line)),
  ).toEqual([])
})
