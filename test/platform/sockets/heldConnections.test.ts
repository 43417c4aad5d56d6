import { EventEmitter, once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import Client, { type WebSocket } from 'ws'
import { CLOSE_TOO_FAST } from '../../../src/contract/pageRules'
import type { ConsoleAnswer } from '../../../src/contract/sockets/consoleChannel'
import { executeMessages } from '../../../src/platform/sockets/consoleViewer'
import { RateLimitedServer } from '../../../src/platform/sockets/frameRate'
import { handshakeOf } from '../../support/platform/handshake'
import { useQuietInstance } from '../../support/platform/quietInstance'
import { useSockets } from '../../support/platform/rawConnections'
import { useAccount, type Account } from '../../support/platform/startPlatform'
import { until } from '../../support/platform/until'

const connectTo = useSockets()
const { platform, ann, origin, consolePath } = useQuietInstance()
const bob = useAccount(platform, 'bob')

/** A raw websocket, because a client library would read what it is sent. @returns it with the status of the response */
async function upgraded(server: Server, path: string, token = ''): Promise<{ socket: Socket; status: number }> {
  const socket = connectTo({ server })
  const { port } = server.address() as AddressInfo
  socket.write(handshakeOf(path, `Host: 127.0.0.1:${port}`, `Cookie: token=${token}`))
  const [answer] = (await once(socket, 'data')) as [Buffer]
  return { socket, status: Number(answer.toString().split(' ')[1]) }
}

test('security 64: a user may watch 100 consoles at a time, and another one when one closes', async () => {
  const watch = (account: Account) => upgraded(platform().app.server, consolePath(), account.token)
  const all = await Promise.all(Array.from({ length: 105 }, () => watch(bob())))
  const statuses = all.map(({ status }) => status).sort()
  expect(statuses).toEqual([...Array<number>(100).fill(101), ...Array<number>(5).fill(429)])
  expect((await watch(ann())).status).toBe(101)
  all.find(({ status }) => status === 101)!.socket.destroy()
  await until(async () => (await watch(bob())).status === 101)
})

test('security 142: the text of a user’s commands at all consoles is limited per second, and not that of others', async () => {
  const open = async (account: Account) => {
    const viewer = new Client(`ws://${origin().host}${consolePath()}`, {
      headers: { cookie: `token=${account.token}` },
    })
    const answers: ConsoleAnswer[] = []
    viewer.on('message', (data: Buffer) => {
      const frame = JSON.parse(data.toString()) as ConsoleAnswer
      if (frame.type === 'answer') answers.push(frame)
    })
    await once(viewer, 'open')
    return {
      viewer,
      answers,
      send: (command: string) => viewer.send(JSON.stringify({ type: 'command', command, ref: 'r' })),
    }
  }
  const viewers = await Promise.all(Array.from({ length: 8 }, () => open(bob())))
  const closed = viewers.map(async ({ viewer }) => (await once(viewer, 'close')) as [code: number])
  const other = await open(ann())
  for (const { send } of viewers) for (let count = 0; count < 20; count++) send('\u3000'.repeat(8192))
  other.send('list')
  // Of the 160 messages, 32 are within the limit of a second.
  expect((await Promise.race(closed))[0]).toBe(CLOSE_TOO_FAST)
  await until(
    () => other.answers,
    (answers) => answers.length === 1,
  )
  expect(other.viewer.readyState).toBe(other.viewer.OPEN)
  for (const { viewer } of [...viewers, other]) viewer.terminate()
})

test('security 64: queued messages of a viewer take at most 1 MiB', async () => {
  const sent: string[] = []
  const viewer = Object.assign(new EventEmitter(), { OPEN: 1, readyState: 1, send: (text: string) => sent.push(text) })
  let release = () => {}
  const blocked = new Promise<void>((resolve) => (release = resolve))
  const executed: string[] = []
  executeMessages(
    viewer as unknown as WebSocket,
    async (text) => {
      await blocked
      executed.push(text.trim())
    },
    (error) => ({ code: 'INTERNAL', message: String(error) }),
  )
  for (let count = 0; count < 20; count++) viewer.emit('message', Buffer.from(String(count).padEnd(60_000)))
  expect(sent).toEqual(
    Array(3).fill('{"type":"system","content":"[System] Not done: too many earlier requests are still waiting."}'),
  )
  release()
  await until(() => executed.length === 17)
  viewer.emit('message', Buffer.from('later'))
  await until(() => executed.includes('later'))
})

test('security 64: a peer that sends and never reads its responses is disconnected', async () => {
  const server = createServer()
  const accepted = new RateLimitedServer({ server })
  try {
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const connected = once(accepted, 'connection')
    const { socket } = await upgraded(server, '/')
    const [peer] = (await connected) as [WebSocket]
    socket.pause()
    const answer = 'x'.repeat(2 ** 20)
    // The kernel takes the first few MiB.
    while (peer.bufferedAmount < 4 * 2 ** 20) {
      peer.send(answer)
      await new Promise(setImmediate)
    }
    expect(peer.readyState).toBe(peer.OPEN)
    // A ping (RFC 6455 §5.5.2), masked with zeros, which each peer answers.
    socket.write(Buffer.from([0x89, 0x80, 0, 0, 0, 0]))
    await until(() => peer.readyState === peer.CLOSED)
  } finally {
    accepted.close()
    server.close()
    server.closeAllConnections()
  }
})
