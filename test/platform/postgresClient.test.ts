import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type Server, type Socket } from 'node:net'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PostgresClient } from '../../src/platform/postgresClient'
import { isPostgresUnreachable } from '../../src/platform/state/db'

/** A message of the server: type, length and body. */
function message(type: string, body: Buffer | string | number[], length?: number): Buffer {
  const content = typeof body === 'string' ? Buffer.from(body, 'latin1') : Buffer.from(body)
  const header = Buffer.alloc(5)
  header.write(type, 0, 'latin1')
  header.writeInt32BE(length ?? content.length + 4, 1)
  return Buffer.concat([header, content])
}
const authentication = (code: number, ...rest: number[]) => message('R', [0, 0, 0, code, ...rest])
const OK = authentication(0)
const READY = message('Z', 'I')
const CLEARTEXT = authentication(3)
const MD5 = authentication(5, 1, 2, 3, 4)

let server: Server
let received: Buffer[]
let sockets: Socket[]

/** A fake PostgreSQL server that answers the start of a session and each later message. */
async function pretend(start: Buffer, later: Buffer = Buffer.alloc(0), path?: string): Promise<string> {
  received = []
  sockets = []
  server = createServer((socket) => {
    sockets.push(socket)
    socket.on('error', () => undefined)
    socket.once('data', () => {
      socket.write(start)
      socket.on('data', (chunk) => {
        received.push(chunk)
        socket.write(later)
      })
    })
  })
  await new Promise<void>((resolve) => server.listen(path ?? { port: 0, host: '127.0.0.1' }, resolve))
  if (path !== undefined) return `socket:${join(path, '..')}?db=x&user=ann&password=of-ann`
  return `postgres://ann:of-ann@127.0.0.1:${(server.address() as AddressInfo).port}/x`
}

async function connect(url: string): Promise<PostgresClient> {
  const client = new PostgresClient({ connectionString: url, connectionTimeoutMillis: 5000, query_timeout: 5000 })
  client.on('error', () => undefined)
  await client.connect()
  return client
}

afterEach(async () => {
  for (const socket of sockets) socket.destroy()
  await new Promise((resolve) => server.close(resolve))
})

test.each([
  ['in plain text', CLEARTEXT],
  ['as an MD5 hash', MD5],
])('the password is not sent to a server that asks for it %s over TCP', async (_how, start) => {
  const url = await pretend(start)
  await expect(connect(url)).rejects.toThrow('asks for a password without encryption')
  expect(Buffer.concat(received).toString()).toBe('')
})

test('the password is sent over a Unix socket in the form that the server asks for', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'quarterdeck-socket-'))
  try {
    const url = await pretend(CLEARTEXT, Buffer.concat([OK, READY]), join(directory, '.s.PGSQL.5432'))
    const client = await connect(url)
    expect(Buffer.concat(received).toString('latin1')).toContain('of-ann')
    await client.end()
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
})

const text = (content: string) => `${content}\0`

test.each<[string, Buffer]>([
  ['an authentication without a body', message('R', '')],
  ['an authentication of an unknown kind', authentication(77)],
  ['an unterminated list of mechanisms', message('R', [0, 0, 0, 10, 0x53, 0x43])],
  ['an unterminated error', message('E', 'SFATAL')],
  ['an error with an unterminated list of fields', message('E', text('SFATAL'))],
  ['an unterminated notice', message('N', 'Mhello')],
  ['a parameter without a value', message('S', text('TimeZone'))],
  ['a negative length', message('Z', 'I', -1)],
  ['a length shorter than the length field', message('Z', 'I', 3)],
  ['a length of 2 GB', message('D', '', 0x7fffffff)],
  ['an error of 2 MB', message('E', '', 2 * 1024 * 1024)],
])('%s fails the connection', async (_what, start) => {
  const url = await pretend(start)
  await expect(connect(url)).rejects.toThrow()
})

test.each<[string, Buffer]>([
  ['a truncated row', message('D', [0, 9, 0, 0, 0, 40, 1])],
  ['a row with fewer fields than announced', message('D', [0x7f, 0xff])],
  ['unterminated columns', message('T', [0, 2, 0x61])],
  [
    'fewer columns than announced',
    message('T', Buffer.concat([Buffer.from([0, 9]), Buffer.from('a\0'), Buffer.alloc(18)])),
  ],
  ['an unterminated result', message('C', 'SELECT 1')],
  ['an unterminated notification', message('A', [0, 0, 0, 1, 0x61])],
])('%s fails the query', async (_what, answer) => {
  const url = await pretend(Buffer.concat([OK, READY]), answer)
  const client = await connect(url)
  await expect(client.query('select 1')).rejects.toThrow()
})

test('messages may arrive in chunks of any size', async () => {
  const start = Buffer.concat([
    OK,
    message('S', text('TimeZone') + text('UTC')),
    message('K', [0, 0, 0, 1, 0, 0, 0, 2]),
    READY,
  ])
  const url = await pretend(Buffer.alloc(0))
  server.once('connection', (socket: Socket) =>
    socket.once('data', () => {
      for (const byte of start) socket.write(Buffer.from([byte]))
    }),
  )
  const client = await connect(url)
  await client.end()
  expect(received.length).toBeGreaterThan(0)
})

test('a server that cannot start a process for a connection counts as unreachable', async () => {
  const url = await pretend(
    Buffer.from('Ecould not fork new process for connection: Resource temporarily unavailable\n\0'),
  )
  const error: unknown = await connect(url).catch((failure: unknown) => failure)
  expect(isPostgresUnreachable(error)).toBe(true)
})
