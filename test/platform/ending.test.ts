import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { connect, type Socket as NetSocket } from 'node:net'
import { join } from 'node:path'
import { generate } from 'otplib'
import { io, type Socket } from 'socket.io-client'
import { WebSocket } from 'ws'
import { freshDatabase } from '../support/platform/freshState'
import { handshakeOf } from '../support/platform/handshake'
import { killLeftovers, readyUrl, runProgram, type RunningProgram } from '../support/platform/runPlatform'
import { stopHost } from '../support/platform/stopHost'
import { useTemporaryDirectory } from '../support/platform/temporaryDirectory'
import { until } from '../support/platform/until'

const directory = useTemporaryDirectory()
let dataDir: string
let platform: RunningProgram
let database: Awaited<ReturnType<typeof freshDatabase>>
let url: string
let token: string
let podName: string
const sockets: Socket[] = []

interface Data {
  token: string
  secret: string
  loginToken: string
  instances: { podName: string; state: string }[]
}

async function call(method: string, path: string, body?: unknown): Promise<Data> {
  const answer = await fetch(`${url}/api/${path}`, {
    method,
    headers: { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  return ((await answer.json()) as { data: Data }).data
}

async function register(): Promise<string> {
  const account = { username: 'operator', password: 'correct horse battery' }
  const inviteToken = (await call('POST', 'auth/verify-invite', { inviteCode: 'first-invite-of-all' })).token
  const { secret } = await call('POST', 'auth/register', { ...account, inviteToken })
  return (
    await call('POST', 'auth/verify-registration', {
      username: account.username,
      token: await generate({ secret }),
      inviteToken,
    })
  ).loginToken
}

beforeEach(async () => {
  database = await freshDatabase()
  dataDir = join(directory(), randomUUID())
  const throwing = join(directory(), 'throwing.js')
  writeFileSync(throwing, "process.on('SIGUSR2', () => { throw new Error('nobody handles this') })")
  platform = runProgram('main', {
    NODE_OPTIONS: `--require ${throwing}`,
    QUARTERDECK_PORT: '0',
    QUARTERDECK_LOG_LEVEL: 'warn',
    QUARTERDECK_FIRST_INVITE: 'first-invite-of-all',
    QUARTERDECK_DATA_DIR: dataDir,
    QUARTERDECK_STATE_URL: database.url,
    QUARTERDECK_SQL_URL: database.url,
  })
  url = await readyUrl(platform)
  token = ''
  token = await register()
  podName = (
    await until(
      () => call('GET', 'deployments/sample/instances'),
      ({ instances }) => instances[0]?.state === 'RUNNING',
    )
  ).instances[0]!.podName
})
afterEach(async () => {
  for (const socket of sockets) socket.close()
  killLeftovers()
  await platform.exited
  await stopHost(dataDir)
  await database.drop()
})

const headers = () => ({ origin: url, cookie: `token=${token}` })

async function openConsole(): Promise<{ code: () => number | undefined }> {
  const viewer = new WebSocket(`${url.replace('http', 'ws')}/api/logs/sample/${podName}`, { headers: headers() })
  let code: number | undefined
  viewer.on('close', (given) => (code = given)).on('error', () => undefined)
  await once(viewer, 'open')
  return { code: () => code }
}

async function openRealtime(transports: string[]): Promise<{ reason: () => string | undefined }> {
  const socket = io(url, { transports, upgrade: false, reconnection: false, forceNew: true, extraHeaders: headers() })
  sockets.push(socket)
  let reason: string | undefined
  socket.on('disconnect', (given) => (reason = given))
  await until(() => socket.connected)
  return { reason: () => reason }
}

/** Upgrades the connection, and then neither reads nor answers. */
async function openAndFallSilent(path: string): Promise<NetSocket> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => undefined)
  socket.write(handshakeOf(path, `Host: ${hostname}:${port}`, `Origin: ${url}`, `Cookie: token=${token}`))
  const [head] = (await once(socket, 'data')) as [Buffer]
  expect(head.toString()).toMatch(/^HTTP\/1.1 101 /)
  socket.pause()
  return socket
}

/** Starts a download and reads only its beginning. */
async function beginDownload(): Promise<void> {
  writeFileSync(join(dataDir, 'nfsshare/sample/world.bin'), Buffer.alloc(64 * 2 ** 20))
  const ticket = (await call('POST', 'sftp/download-ticket', { path: '/nfsshare/sample/world.bin' })).token
  const asked = request(
    `${url}/api/sftp/download?path=${encodeURIComponent('/nfsshare/sample/world.bin')}&token=${ticket}`,
  )
  asked.on('error', () => undefined).end()
  const [answer] = (await once(asked, 'response')) as [NodeJS.ReadableStream & { statusCode: number }]
  expect(answer.statusCode).toBe(200)
  answer.on('error', () => undefined)
}

/** @returns the exit code: 0 after a graceful shutdown, 1 if it timed out */
async function end(signal: NodeJS.Signals): Promise<number | null> {
  platform.child.kill(signal)
  return platform.exited
}

test('Ctrl-C ends the platform gracefully and closes all connections with codes that let clients reconnect', async () => {
  const consoles = await Promise.all([openConsole(), openConsole()])
  const polling = await openRealtime(['polling'])
  const websocket = await openRealtime(['websocket'])
  const code = await end('SIGINT')
  expect(code).toBe(0)
  // Going away (RFC 6455, 7.4.1): a code after which the console reconnects.
  await until(() => consoles.every((viewer) => viewer.code() === 1001))
  // After these reasons the client of socket.io reconnects: 'transport close', or 'transport error' for an aborted
  // poll.
  await until(() => [polling, websocket].every(({ reason }) => reason()?.startsWith('transport ')))
  expect(platform.output().stderr).toBe('')
})

test('silent peers and a download that is not read do not delay the shutdown', async () => {
  await openAndFallSilent(`/api/logs/sample/${podName}`)
  await openAndFallSilent('/socket.io/?EIO=4&transport=websocket')
  await beginDownload()
  const code = await end('SIGTERM')
  expect(code).toBe(0)
})

test('a call in flight is answered before the shutdown', async () => {
  // Hashing with argon2 takes a while.
  const answer = fetch(`${url}/api/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username: 'operator', password: 'wrong' }),
  })
  await until(async () => (await fetch(`${url}/api/health`)).ok)
  const ended = end('SIGTERM')
  expect((await answer).status).toBe(400)
  expect(await ended).toBe(0)
})

test('an unhandled error is logged, and the platform shuts down gracefully and notifies its viewers', async () => {
  const viewer = await openConsole()
  expect(await end('SIGUSR2')).toBe(1)
  await until(() => viewer.code() === 1001)
  const lines = platform
    .output()
    .stderr.trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { level: number; msg: string; err: { message: string } })
  expect(lines).toEqual([
    expect.objectContaining({
      level: 60,
      msg: 'unhandled error; the platform shuts down',
      err: expect.objectContaining({ message: 'nobody handles this' }),
    }),
  ])
})
