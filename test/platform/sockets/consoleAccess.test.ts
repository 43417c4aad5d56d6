import { once } from 'node:events'
import { connect as connectHalfOpen, type Socket } from 'node:net'
import { awakeMs } from '../../support/time/awakeMs'
import { useEchoConsole } from '../../support/platform/echoConsole'
import { handshakeOf } from '../../support/platform/handshake'
import { useRawConnections } from '../../support/platform/rawConnections'
import { until } from '../../support/platform/until'

const { platform, ann, bob, url, podName, consolePath, attempt, open } = useEchoConsole()
const connect = useRawConnections(platform)

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

test('security 36: the upgrade is refused without a session, for invalid names and for unknown instances', async () => {
  expect(await refusal(consolePath(), { token: '' })).toBe(401)
  expect(await refusal(consolePath(), { token: 'x' })).toBe(401)
  expect(await refusal('/api/logs/echo/nothing')).toBe(404)
  expect(await refusal(`/api/logs/other/${podName()}`)).toBe(404)
  for (const path of ['/api/logs/echo/..%2f..', '/api/logs/../x', '/api/logs/echo', '/api/other', '/'])
    expect(await refusal(path)).toBe(404)
})

test('the connection of a refused upgrade is closed even if the client keeps its side open', async () => {
  const held: Socket[] = []
  try {
    for (const path of ['/api/logs/echo/nothing', '/other', '/socket.io/?EIO=4&transport=websocket']) {
      const socket = connectHalfOpen({ port: Number(url().port), host: '127.0.0.1', allowHalfOpen: true }).on(
        'error',
        () => undefined,
      )
      held.push(socket)
      const [accepted] = (await once(platform().app.server, 'connection')) as [Socket]
      socket.write(handshakeOf(path, 'Host: x'))
      await until(() => accepted.closed)
    }
  } finally {
    for (const socket of held) socket.destroy()
  }
})

test('a client that disconnects during the upgrade does not disturb others, with or without a session', async () => {
  const forged = `${ann().token.slice(0, -4)}AAAA`
  for (const path of ['/api/logs/echo/x', consolePath(), '/other', '/socket.io/?transport=websocket']) {
    for (const token of [forged, ann().token]) {
      const socket = connect()
      await once(socket, 'connect')
      socket.write(handshakeOf(path, 'Host: x', `Cookie: token=${token}`))
      socket.resetAndDestroy()
    }
  }
  const viewer = await open()
  viewer.command('still here')
  await until(() => viewer.lines.includes('heard still here'))
})

test('security 35: a foreign or null origin is refused despite a valid cookie', async () => {
  for (const origin of ['http://evil.example', 'null', 'nonsense'])
    expect(await refusal(consolePath(), { origin })).toBe(403)
})

test('security 35: a handshake with two hosts is refused, whichever of them is the origin', async () => {
  const { host } = url()
  for (const path of [consolePath(), '/socket.io/?EIO=4&transport=websocket']) {
    const socket = connect()
    socket.write(
      handshakeOf(
        path,
        `Host: ${host}`,
        'Host: evil.example',
        `Origin: http://${host}`,
        `Cookie: token=${ann().token}`,
      ),
    )
    const [answer] = (await once(socket, 'data')) as [Buffer]
    expect(answer.toString()).toMatch(/^HTTP\/1.1 40[03] /)
  }
})

test('security 37: the end of a session closes its consoles', async () => {
  const token = await platform().signIn(ann())
  const viewer = await open('', { ...ann(), token })
  await platform().call('POST', '/api/auth/logout', { token })
  await until(() => viewer.closed)
  expect(viewer.closed).toEqual({ code: 4401 })
})

test('security 37: commands sent after the end of a session are ignored, even if the client does not close', async () => {
  const token = await platform().signIn(ann())
  // A raw socket, because a client library answers a close frame at once.
  const raw = connect()
  raw.write(handshakeOf(consolePath(), `Host: ${url().host}`, `Cookie: token=${token}`))
  await once(raw, 'data')
  const gone = once(raw, 'close')
  await platform().call('POST', '/api/auth/logout', { token })
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
  const raw = connect()
  raw.write(handshakeOf(consolePath(), `Host: ${url().host}`, `Cookie: token=${ann().token}`))
  await once(raw, 'data')
  raw.write(Buffer.from([0x81, 0x82, 0, 0, 0, 0, 0xc3, 0x28]))
  await once(raw, 'close')
  expect(other.closed).toBeUndefined()
})

test('security 12 and 37: a user promoted to administrator keeps the session and gets a new channel', async () => {
  const viewer = await open('', bob())
  await platform().db.updateTable('users').set({ is_admin: true }).where('username', '=', 'bob').execute()
  expect(await awakeMs(() => until(() => viewer.closed))).toBeLessThan(5000)
  expect(viewer.closed).toEqual({ code: 4403 })
  const again = await open('', bob())
  await until(() => again.lines.length > 0)
})

test('security 152: a command of a session that has ended is refused before the regular check closes its console', async () => {
  const { id } = await platform()
    .db.selectFrom('users')
    .select('id')
    .where('username', '=', 'bob')
    .executeTakeFirstOrThrow()
  // New sessions, because the platform may rely for half a second on what it has read of one that is in use.
  const newSession = async () => ({ ...bob(), token: await platform().signIn(bob()) })
  const changed = await open('', await newSession())
  await platform()
    .db.updateTable('users')
    .set((eb) => ({ is_admin: eb.not('is_admin') }))
    .where('id', '=', id)
    .execute()
  // The check has just run, and runs again in two seconds.
  await until(() => changed.closed)
  const ended = await newSession()
  const viewer = await open('', ended)
  await platform().db.deleteFrom('sessions').where('user_id', '=', id).execute()
  await until(async () => (await platform().call('GET', '/api/deployments', ended)).status === 401)
  viewer.command('after the end')
  const other = await open()
  other.command('and now')
  await until(() => other.lines.includes('heard and now'))
  await until(() => viewer.closed)
  expect(other.lines).not.toContain('heard after the end')
})
