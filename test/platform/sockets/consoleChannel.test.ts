import { once } from 'node:events'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { WebSocket } from 'ws'
import type { ConsoleAnswer, ConsoleFrame } from '../../../src/contract/sockets/consoleChannel'
import { awakeMs } from '../../support/platform/awakeMs'
import { startPlatform, type Account, type TestPlatform } from '../../support/platform/startPlatform'
import { until } from '../../support/platform/until'

let platform: TestPlatform
let url: string
let ann: Account
let bob: Account
let podName: string
let viewers: Viewer[] = []

/** After `hold` it does not exit until `go`, like a server that is saving. */
const ECHO = `
console.log('Ready')
let isHeld = false
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const [word, count] = line.split(' ')
  if (word === 'print') for (let i = 1; i <= Number(count); i++) console.log('line ' + i)
  else if (word === 'wide') for (let i = 1; i <= Number(count); i++) console.log('line ' + i + ' ' + 'x'.repeat(200))
  else if (word === 'oops') console.error('went wrong')
  else if (word === 'crash') process.exit(3)
  else if (word === 'hold') isHeld = true
  else if (word === 'go' || (word === 'stop' && !isHeld)) process.exit(0)
  else console.log('heard ' + line)
})`

class Viewer {
  readonly frames: ConsoleFrame[] = []
  readonly answers: ConsoleAnswer[] = []
  closed: { code: number } | undefined

  constructor(readonly socket: WebSocket) {
    socket.on('message', (data) => {
      const frame = JSON.parse((data as Buffer).toString()) as ConsoleFrame | ConsoleAnswer
      if (frame.type === 'answer') this.answers.push(frame)
      else this.frames.push(frame)
    })
    socket.on('close', (code) => (this.closed = { code }))
  }

  get lines(): string[] {
    return this.frames.filter(({ type }) => type !== 'power').flatMap(({ content }) => content.split('\n'))
  }

  /** Every numbered line with its number. */
  get numbered(): [number, string][] {
    return this.frames.flatMap(({ seq, content }) =>
      seq === undefined ? [] : content.split('\n').map((line, at): [number, string] => [seq + at, line]),
    )
  }

  send(message: unknown): void {
    this.socket.send(JSON.stringify(message))
  }

  command(command: string): void {
    this.send({ type: 'command', command })
  }
}

const attempt = (
  path: string,
  { token = ann.token, origin = url.replace('ws', 'http') }: { token?: string; origin?: string } = {},
) => new WebSocket(`${url}${path}`, { headers: { origin, cookie: `token=${token}` } })

async function open(query = '', as: Account = ann): Promise<Viewer> {
  const viewer = new Viewer(attempt(`/api/logs/echo/${podName}${query}`, { token: as.token }))
  viewers.push(viewer)
  await once(viewer.socket, 'open')
  return viewer
}

const refusal = (path: string, options?: { token?: string; origin?: string }) =>
  new Promise<number>((resolve, reject) => {
    const socket = attempt(path, options)
    socket.on('unexpected-response', (request, response) => {
      resolve(response.statusCode ?? 0)
      request.destroy()
    })
    socket.on('open', () => reject(new Error('It was let in')))
    socket.on('error', () => undefined)
  })

const call = (method: 'GET' | 'POST' | 'PATCH', path: string, body?: unknown) =>
  platform.call(method, path, { token: ann.token, body })
const instance = async () =>
  (
    (await call('GET', '/api/deployments/echo/instances')).body.data.instances as {
      podName: string
      uid: string
      state: string
      restarts: number
      lastExit?: { code: number }
    }[]
  )[0]!
const stateIs = (state: string) =>
  until(
    async () => (await instance()).state,
    (current) => current === state,
  )

beforeAll(async () => {
  platform = await startPlatform()
  ann = await platform.register('ann')
  bob = await platform.register('bob')
  await platform.app.listen({ host: '127.0.0.1', port: 0 })
  url = `ws://127.0.0.1:${(platform.app.server.address() as AddressInfo).port}`
  await call('POST', '/api/deployments', { name: 'echo', type: 'process' })
  const content = `name: echo\ntype: process\ndataDirectory: /echo\nrun: { command: ["node", "-e", ${JSON.stringify(ECHO)}] }\nready: Ready\nstop: { command: stop, timeoutSeconds: 5 }\nplainCommands: [claim]\n`
  expect(await call('PATCH', '/api/deployments/echo', { content })).toMatchObject({ status: 200 })
  await call('POST', '/api/deployments/echo/toggle', { enabled: true })
  await until(async () => Boolean(await instance()))
  await stateIs('RUNNING')
  podName = (await instance()).podName
})
afterEach(() => {
  for (const { socket } of viewers) socket.terminate()
  viewers = []
})
afterAll(() => platform.close())

test('decisions §6: sends the last lines first, then new ones numbered without gaps, and executes commands', async () => {
  const viewer = await open()
  await until(() => viewer.lines.includes('Ready'))
  viewer.command('hello')
  await until(() => viewer.lines.includes('heard hello'))
  viewer.command('oops')
  await until(() => viewer.frames.some(({ type, content }) => type === 'error' && content === 'went wrong'))
  const numbers = viewer.numbered.map(([seq]) => seq)
  expect(numbers).toEqual(numbers.map((_number, at) => numbers[0]! + at))
})

test('a request with a ref is answered: done, or why not', async () => {
  const viewer = await open()
  viewer.send({ type: 'command', command: 'answered', ref: 'a' })
  viewer.send({ type: 'power', action: 'drainAndStop', ref: 'b' })
  viewer.send({ type: 'power', action: 'drainAndStop' })
  await until(() => viewer.answers.length === 2 && viewer.lines.some((line) => line.includes('has no "drain" setting')))
  expect(viewer.answers).toEqual([
    { type: 'answer', ref: 'a' },
    { type: 'answer', ref: 'b', failure: { code: 'CONFLICT', message: expect.stringContaining('"drain"') } },
  ])
  expect(viewer.lines.filter((line) => line.includes('has no "drain" setting'))).toHaveLength(1)
})

test('decisions §6: sends the last 1,000 lines of a long history, several in a frame', async () => {
  const first = await open()
  first.command('print 3000')
  await until(() => first.lines.includes('line 3000'))
  const viewer = await open()
  await until(() => viewer.lines.includes('line 3000'))
  expect(viewer.numbered).toHaveLength(1000)
  expect(viewer.frames.length).toBeLessThan(20)
})

test('a reconnect resumes after the last received line, without gaps or duplicates', async () => {
  const before = await open()
  before.command('print 500')
  await until(() => before.lines.includes('line 500'))
  const seen = before.numbered.at(-1)![0]
  before.socket.terminate()
  const between = await open()
  between.command('print 200')
  await until(
    () => between.lines.filter((line) => line === 'line 200').length >= 1 && between.numbered.at(-1)![0] >= seen + 200,
  )
  const after = await open(`?since=${seen + 1}`)
  await until(() => after.numbered.length >= 200)
  expect(after.numbered.slice(0, 200).map(([seq]) => seq)).toEqual(
    Array.from({ length: 200 }, (_line, at) => seen + 1 + at),
  )
  expect(after.numbered[0]![1]).toBe('line 1')
  const ahead = await open('?since=99999999')
  await until(() => ahead.numbered.length === 1000)
})

test('a viewer that requests lines no longer kept gets the number of skipped lines', async () => {
  const viewer = await open()
  viewer.command('print 60000')
  await until(() => viewer.lines.includes('line 60000'))
  const late = await open('?since=1')
  await until(() => late.numbered.length >= 10_000)
  const [oldest] = late.numbered[0]!
  expect(late.frames[0]).toEqual({ type: 'system', content: `[System] ${oldest - 1} lines skipped` })
})

test('security 39: a viewer that does not read delays no other viewer', async () => {
  const idle = await open()
  idle.socket.pause()
  const busy = await open()
  for (let round = 0; round < 8; round++) {
    const [last] = busy.numbered.at(-1)!
    busy.command('wide 20000')
    await until(() => busy.numbered.at(-1)![0] >= last + 20_000)
  }
  idle.socket.resume()
  await until(() => idle.numbered.at(-1)?.[0] === busy.numbered.at(-1)![0])
  expect(busy.lines.join()).not.toContain('lines skipped')
  expect(idle.lines.some((line) => /^\[System\] \d+ lines skipped$/.test(line))).toBe(true)
})

test('viewers of a shared console see who sent a command', async () => {
  const alone = await open()
  alone.command('quietly')
  await until(() => alone.lines.includes('heard quietly'))
  expect(alone.lines.join()).not.toContain('ann: quietly')
  const other = await open('', bob)
  other.command('say hi')
  await until(() =>
    [alone, other].every(
      ({ lines }) => lines.includes('\u001b[2mbob: say hi\u001b[0m') && lines.includes('heard say hi'),
    ),
  )
})

test('viewers of a shared console do not see commands that may contain a secret', async () => {
  const viewer = await open()
  const other = await open('', bob)
  other.command('/login hunter22-canary')
  await until(() => viewer.lines.includes('heard /login hunter22-canary'))
  expect(viewer.lines).toContain('\u001b[2mbob: (not shown: it looks like it holds a secret)\u001b[0m')
  expect(viewer.lines.join('\n')).not.toContain('bob: /login')
})

test('§4 power: stop keeps an instance stopped, start and restart run it, and every viewer gets the state', async () => {
  const viewer = await open()
  const states = () => viewer.frames.filter(({ type }) => type === 'power').map(({ content }) => content)
  viewer.command('hold')
  viewer.send({ type: 'power', action: 'stop' })
  await until(() => states().at(-1) === 'STOPPING')
  const [stopping] = await platform.runtime.list()
  await platform.runtime.write(stopping!.podName, 'go')
  await until(() => states().at(-1) === 'STOPPED')
  viewer.command('anybody?')
  await until(() => viewer.lines.includes('[System] The instance is not running.'))
  await until(async () => (await instance()).lastExit?.code === 0)
  viewer.send({ type: 'power', action: 'start' })
  await until(() => states().at(-1) === 'RUNNING')
  const [run] = await platform.runtime.list()
  viewer.send({ type: 'power', action: 'restart' })
  await until(async () => (await platform.runtime.list())[0]!.runId !== run!.runId)
  await until(() => states().at(-1) === 'RUNNING')
  viewer.send({ type: 'power', action: 'kill' })
  await until(() => states().at(-1) === 'STOPPED')
  viewer.send({ type: 'power', action: 'start' })
  await until(() => states().at(-1) === 'RUNNING')
})

test('a crash is counted, and its last lines are kept in a crash capsule', async () => {
  const viewer = await open()
  viewer.command('print 60')
  viewer.command('crash')
  await until(() => viewer.lines.includes('[System] Ended by itself with exit code 3.'))
  const crashed = await until(instance, ({ restarts }) => restarts > 0)
  const capsule = await call('GET', `/api/deployments/echo/instances/${crashed.uid}/crash`)
  expect(capsule).toMatchObject({
    status: 200,
    body: { data: { exit: { code: 3, reason: 'Ended by itself with exit code 3' } } },
  })
  const lines = capsule.body.data.lines as { content: string }[]
  expect(lines).toHaveLength(50)
  expect(lines.map(({ content }) => content)).toContain('line 60')
  await stateIs('RUNNING')
})

test('§7 metrics are returned for a pod, and 404 for an unknown one', async () => {
  // Older than any sample that the platform takes itself, so these are the first two.
  const at = [1800, 1785].map((secondsAgo) => new Date(Date.now() - secondsAgo * 1000))
  await platform.db
    .insertInto('metrics')
    .values(at.map((at) => ({ pod_name: podName, at, cpu: 12.5, memory: 2048 })))
    .execute()
  const firstTwo = async (name: string) => {
    const { body } = await call('GET', `/api/metrics/${name}?pod=${podName}`)
    return (body.data.data as unknown[]).slice(0, 2)
  }
  expect(await firstTwo('cpu')).toEqual(at.map((at) => ({ timestamp: at.getTime(), value: 12.5 })))
  expect(await firstTwo('memory')).toEqual(at.map((at) => ({ timestamp: at.getTime(), value: 2048 })))
  expect(await call('GET', '/api/metrics/cpu?pod=nothing')).toMatchObject({ status: 404 })
  expect(await call('GET', '/api/metrics/cpu')).toMatchObject({ status: 400, body: { field: 'pod' } })
})

test('security 36: the upgrade is refused without a session, for invalid names and for unknown instances', async () => {
  expect(await refusal(`/api/logs/echo/${podName}`, { token: '' })).toBe(401)
  expect(await refusal(`/api/logs/echo/${podName}`, { token: 'x' })).toBe(401)
  expect(await refusal('/api/logs/echo/nothing')).toBe(404)
  expect(await refusal(`/api/logs/other/${podName}`)).toBe(404)
  for (const path of ['/api/logs/echo/..%2f..', '/api/logs/../x', '/api/logs/echo', '/api/other', '/'])
    expect(await refusal(path)).toBe(404)
})

test('the connection of a refused upgrade is closed even if the client keeps its side open', async () => {
  const held: Socket[] = []
  try {
    for (const path of ['/api/logs/echo/nothing', '/other', '/socket.io/?EIO=4&transport=websocket']) {
      const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1', allowHalfOpen: true }).on(
        'error',
        () => undefined,
      )
      held.push(socket)
      const [accepted] = (await once(platform.app.server, 'connection')) as [Socket]
      socket.write(
        `GET ${path} HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${Buffer.alloc(16).toString('base64')}\r\n\r\n`,
      )
      await until(() => accepted.closed)
    }
  } finally {
    for (const socket of held) socket.destroy()
  }
})

test('a client that disconnects during the upgrade does not disturb others, with or without a session', async () => {
  const port = Number(new URL(url).port)
  const forged = `${ann.token.slice(0, -4)}AAAA`
  for (const path of ['/api/logs/echo/x', `/api/logs/echo/${podName}`, '/other', '/socket.io/?transport=websocket']) {
    for (const token of [forged, ann.token]) {
      const socket = connect(port, '127.0.0.1')
      await once(socket, 'connect')
      socket.write(
        `GET ${path} HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${Buffer.alloc(16).toString('base64')}\r\nCookie: token=${token}\r\n\r\n`,
      )
      socket.resetAndDestroy()
    }
  }
  const viewer = await open()
  viewer.command('still here')
  await until(() => viewer.lines.includes('heard still here'))
})

test('security 35: a foreign or null origin is refused despite a valid cookie', async () => {
  for (const origin of ['http://evil.example', 'null', 'nonsense'])
    expect(await refusal(`/api/logs/echo/${podName}`, { origin })).toBe(403)
})

test('security 35: a handshake with two hosts is refused, whichever of them is the origin', async () => {
  const { host, port } = new URL(url)
  for (const path of [`/api/logs/echo/${podName}`, '/socket.io/?EIO=4&transport=websocket']) {
    const socket = connect(Number(port), '127.0.0.1').on('error', () => undefined)
    socket.write(
      `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nHost: evil.example\r\nOrigin: http://${host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${Buffer.alloc(16).toString('base64')}\r\nCookie: token=${ann.token}\r\n\r\n`,
    )
    const [answer] = (await once(socket, 'data')) as [Buffer]
    expect(answer.toString()).toMatch(/^HTTP\/1.1 40[03] /)
    socket.destroy()
  }
})

test('security 37: the end of a session closes its consoles', async () => {
  const token = await platform.signIn(ann)
  const viewer = await open('', { ...ann, token })
  await platform.call('POST', '/api/auth/logout', { token })
  await until(() => viewer.closed)
  expect(viewer.closed).toEqual({ code: 4401 })
})

test('security 37: commands sent after the end of a session are ignored, even if the client does not close', async () => {
  const token = await platform.signIn(ann)
  // A raw socket, because a client library answers a close frame at once.
  const raw = connect(Number(new URL(url).port), '127.0.0.1')
  raw.write(
    `GET /api/logs/echo/${podName} HTTP/1.1\r\nHost: ${new URL(url).host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${Buffer.alloc(16).toString('base64')}\r\nCookie: token=${token}\r\n\r\n`,
  )
  await once(raw, 'data')
  const gone = once(raw, 'close')
  await platform.call('POST', '/api/auth/logout', { token })
  // The close frame (RFC 6455 §5.5.1): opcode 8.
  await new Promise<void>((resolve) => raw.on('data', (data) => data.includes(0x88) && resolve()))
  const command = Buffer.from(JSON.stringify({ type: 'command', command: 'after the end' }))
  raw.write(Buffer.concat([Buffer.from([0x81, 0x80 | command.length, 0, 0, 0, 0]), command]))
  await gone
  const viewer = await open()
  viewer.command('and now')
  await until(() => viewer.lines.includes('heard and now'))
  expect(viewer.lines).not.toContain('heard after the end')
})

test('security 38: huge, malformed and too many messages end only their own viewer', async () => {
  const [huge, flood, odd, other] = [await open(), await open(), await open(), await open()]
  huge.socket.send('x'.repeat(100_000))
  for (let message = 0; message < 1000; message++) flood.command('hi')
  for (const nonsense of ['', '{', 'null', '[]', '{"type":"command"}', '{"type":"power","action":"burn"}'])
    odd.socket.send(nonsense)
  await until(() => huge.closed && flood.closed)
  expect([huge.closed, flood.closed]).toEqual([{ code: 1009 }, { code: 1008 }])
  await until(() => odd.lines.filter((line) => line === '[System] This is not a valid console request.').length === 6)
  expect(other.closed).toBeUndefined()

  // A text frame that is not UTF-8 (RFC 6455 §8.1) over a raw socket, because a client library would not send it.
  const raw = connect(Number(new URL(url).port), '127.0.0.1')
  raw.write(
    `GET /api/logs/echo/${podName} HTTP/1.1\r\nHost: ${new URL(url).host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${Buffer.alloc(16).toString('base64')}\r\nCookie: token=${ann.token}\r\n\r\n`,
  )
  await once(raw, 'data')
  raw.write(Buffer.from([0x81, 0x82, 0, 0, 0, 0, 0xc3, 0x28]))
  await once(raw, 'close')
  expect(other.closed).toBeUndefined()
})

test('a command of maximum length is accepted, whatever its characters', async () => {
  const viewer = await open()
  viewer.command('\u6f22'.repeat(8192))
  await until(() => viewer.closed ?? viewer.lines.some((line) => line.startsWith('heard \u6f22\u6f22')))
  expect(viewer.closed).toBeUndefined()
  viewer.command('x'.repeat(8193))
  await until(() => viewer.lines.includes('[System] This is not a valid console request.'))
})

test('decisions §10: records power and commands with user and result, and unknown commands by first word and length only', async () => {
  const viewer = await open('', bob)
  viewer.command('give ann minecraft:compass')
  viewer.command('/login hunter22-canary')
  viewer.command('rcon.password=hunter23-canary')
  viewer.command('setkey hunter24-canary')
  viewer.command('claim trust bob')
  await until(() => viewer.lines.includes('heard claim trust bob'))
  viewer.send({ type: 'power', action: 'stop' })
  await stateIs('STOPPED')
  viewer.command('anybody?')
  await until(() => viewer.lines.includes('[System] The instance is not running.'))
  viewer.send({ type: 'power', action: 'start' })
  await stateIs('RUNNING')
  const { entries } = await platform.activityLog.list({ search: podName })
  expect(
    entries
      .slice(0, 8)
      .map(({ username, address, kind, action, subject, succeeded }) => [
        username,
        address,
        kind,
        action,
        subject,
        succeeded,
      ]),
  ).toEqual([
    ['bob', '127.0.0.1', 'power', 'started instance', podName, true],
    ['bob', '127.0.0.1', 'command', 'sent command', `${podName}: ••• (8 characters)`, false],
    ['bob', '127.0.0.1', 'power', 'stopped instance', podName, true],
    ['bob', '127.0.0.1', 'command', 'sent command', `${podName}: claim trust bob`, true],
    ['bob', '127.0.0.1', 'command', 'sent command', `${podName}: setkey ••• (22 characters)`, true],
    ['bob', '127.0.0.1', 'command', 'sent command', `${podName}: ••• (29 characters)`, true],
    ['bob', '127.0.0.1', 'command', 'sent command', `${podName}: /login ••• (22 characters)`, true],
    ['bob', '127.0.0.1', 'command', 'sent command', `${podName}: give ann minecraft:compass`, true],
  ])
  expect(JSON.stringify(await platform.db.selectFrom('activity').selectAll().execute())).not.toContain('canary')
})

test('security 12 and 37: a user promoted to administrator keeps the session and gets a new channel', async () => {
  const viewer = await open('', bob)
  await platform.db.updateTable('users').set({ is_admin: true }).where('username', '=', 'bob').execute()
  expect(await awakeMs(() => until(() => viewer.closed))).toBeLessThan(5000)
  expect(viewer.closed).toEqual({ code: 4403 })
  const again = await open('', bob)
  await until(() => again.lines.length > 0)
})
