import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { WebSocket } from 'ws'
import { expectHeldUnder } from '../../support/platform/heldMemory'
import { usePlatform } from '../../support/platform/startPlatform'
import { until } from '../../support/platform/until'

const { platform, account: ann } = usePlatform('ann')
let origin: string

beforeAll(async () => {
  origin = await platform().app.listen({ host: '127.0.0.1', port: 0 })
})
afterEach(async () => {
  // An attack leaves no connection and no unexpected entry in the log.
  await until(connections, (count) => count === 0)
  expect(platform().logged.filter((line) => /"level":(50|60)/.test(line))).toEqual([])
})

const connections = () =>
  new Promise<number>((resolve, reject) =>
    platform().app.server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
  )
const isWell = async () => {
  const answer = await fetch(`${origin}/api/health`, { headers: { connection: 'close' } })
  await answer.arrayBuffer()
  return answer.status === 200
}

/** A raw Engine.IO connection. */
function opened(): WebSocket {
  const socket = new WebSocket(`${origin.replace('http', 'ws')}/socket.io/?EIO=4&transport=websocket`, {
    origin,
    headers: { cookie: `token=${ann().token}` },
  })
  return socket.on('error', () => undefined)
}

/** An Engine.IO connection after its handshake. */
async function connected(): Promise<WebSocket> {
  const socket = opened()
  await once(socket, 'message')
  return socket
}

/** A connection after the handshake of socket.io. */
async function joined(): Promise<WebSocket> {
  const socket = await connected()
  socket.send('40')
  const [answer] = (await once(socket, 'message')) as [Buffer]
  expect(answer.toString()).toMatch(/^40\{"sid":/)
  return socket
}

test.each([
  ['a packet without a type', '9'],
  ['an unknown type of message', '4Z'],
  ['invalid JSON', '42["message",'],
  ['a payload that is not a list', '42{"message":1}'],
  ['a reserved event', '42["disconnecting"]'],
  ['an acknowledgement without a request', '439999["x"]'],
  ['a prototype', '42["message",{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}]'],
  ['an unknown namespace', '40/admin,'],
  ['unannounced binary data', randomBytes(64)],
  ['invalid UTF-8 as text', Buffer.from([0x34, 0x32, 0xff, 0xfe])],
  ['a depth of 5,000', `42["message",${'['.repeat(5000)}${']'.repeat(5000)}]`],
])('security 42: %s ends at most its own connection', async (_case, packet) => {
  const [attacker, other] = [await joined(), await joined()]
  attacker.send(packet)
  attacker.send('2probe')
  expect(await isWell()).toBe(true)
  expect(({} as { polluted?: number }).polluted).toBeUndefined()
  expect(other.readyState).toBe(WebSocket.OPEN)
  for (const socket of [attacker, other]) socket.terminate()
})

test('security 42: 300 connections of random packets are closed without affecting the platform', async () => {
  const random = () => {
    const text = randomBytes(1 + Math.floor(Math.random() * 60)).toString('latin1')
    return Math.random() < 0.5 ? `4${Math.floor(Math.random() * 10)}${text}` : Buffer.from(text, 'latin1')
  }
  for (let round = 0; round < 6; round++) {
    const sockets = await Promise.all(Array.from({ length: 50 }, connected))
    for (const socket of sockets) for (let packets = 0; packets < 5; packets++) socket.send(random())
    expect(await isWell()).toBe(true)
    for (const socket of sockets) socket.terminate()
  }
})

test.each([
  '451000000000-["message",{"_placeholder":true,"num":0}]',
  '4599999999999999999999-["message"]',
  '45-1-["message"]',
  '451-["message",{"_placeholder":true,"num":999999999}]',
])('security 43: missing attachments (%s) end the connection and hold no memory', async (packet) => {
  const socket = await joined()
  await expectHeldUnder(50 * 2 ** 20, async () => {
    socket.send(packet)
    // The platform takes the first of these as the attachment, and the others follow it.
    for (let piece = 0; piece < 50; piece++) socket.send(Buffer.alloc(1024))
    if (socket.readyState !== WebSocket.CLOSED) await once(socket, 'close')
    expect(await isWell()).toBe(true)
  })
  socket.terminate()
})

test('security 42: a polling request with thousands of packets ends its connection', async () => {
  const path = `${origin}/socket.io/?EIO=4&transport=polling`
  const headers = { cookie: `token=${ann().token}`, connection: 'close' }
  const opening = await (await fetch(path, { headers })).text()
  const { sid } = JSON.parse(opening.slice(1)) as { sid: string }
  const post = async (body: string) => (await fetch(`${path}&sid=${sid}`, { method: 'POST', body, headers })).status
  expect(await post('40')).toBe(200)
  await post(Array<string>(4000).fill('3').join('\x1e'))
  // The connection no longer exists.
  expect(await post('3')).toBe(400)
})

test('security 44: 500 concurrent connections are accepted or refused, other calls are answered, and none is left open', async () => {
  const sockets = Array.from({ length: 500 }, opened)
  const outcomes = sockets.map((socket) =>
    Promise.race([
      once(socket, 'message').then(
        () => 'served',
        () => 'refused',
      ),
      new Promise((resolve) => socket.once('close', () => resolve('refused'))),
    ]),
  )
  // If the platform froze, the test would time out.
  expect(await isWell()).toBe(true)
  const served = (await Promise.all(outcomes)).filter((outcome) => outcome === 'served')
  // The limit of one user.
  expect(served).toHaveLength(100)
  for (const socket of sockets) socket.terminate()
  await until(connections, (count) => count === 0)
})
