import { once } from 'node:events'
import type { Socket } from 'node:net'
import { expectHeldUnder } from '../../support/platform/heldMemory'
import { handshakeOf } from '../../support/platform/handshake'
import { useQuietInstance } from '../../support/platform/quietInstance'
import { useRawConnections } from '../../support/platform/rawConnections'

const { platform, ann, origin, consolePath } = useQuietInstance()
const connect = useRawConnections(platform)

/** A raw websocket, because a client library would not send these frames. */
async function upgraded(path: string): Promise<Socket> {
  const socket = connect()
  socket.write(
    handshakeOf(path, `Host: ${origin().host}`, `Origin: ${origin().origin}`, `Cookie: token=${ann().token}`),
  )
  const [answer] = (await once(socket, 'data')) as [Buffer]
  expect(answer.toString()).toMatch(/^HTTP\/1.1 101 /)
  return socket
}

/** A frame that does not end its message, masked with zeros (RFC 6455 §5.2). */
const fragment = (opcode: 0 | 1, text: string) =>
  Buffer.concat([Buffer.from([opcode, 0x80 | text.length, 0, 0, 0, 0]), Buffer.from(text)])

test.each([
  ['the console', 'of one byte', consolePath, 'x'],
  ['the console', 'of nothing', consolePath, ''],
  ['socket.io', 'of one byte', () => '/socket.io/?EIO=4&transport=websocket', 'x'],
])(
  'security 38: a message to %s in endless tiny fragments %s ends its connection and holds no memory',
  async (_which, _size, path, text) => {
    const socket = await upgraded(path())
    const piece = Buffer.concat(Array<Buffer>(10_000).fill(fragment(0, text)))
    await expectHeldUnder(50 * 2 ** 20, async () => {
      socket.write(fragment(1, text))
      const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
      socket.resume()
      let isOpen = true
      void closed.then(() => (isOpen = false))
      // Up to eight million fragments: if the platform accepts them all, the test times out.
      for (let pieces = 0; pieces < 800 && isOpen; pieces++) {
        if (!socket.write(piece)) await Promise.race([once(socket, 'drain'), closed])
      }
      await closed
    })
    expect((await fetch(`${origin().origin}/api/health`)).status).toBe(200)
  },
  60_000,
)

/** A complete frame (RFC 6455 §5.2). */
const frame = (opcode: 1 | 9 | 10, text = '') =>
  Buffer.concat([Buffer.from([0x80 | opcode, 0x80 | text.length, 0, 0, 0, 0]), Buffer.from(text)])

test.each([
  ['messages', 'the console', consolePath, frame(1, '{}')],
  ['pings', 'the console', consolePath, frame(9)],
  ['pongs', 'the console', consolePath, frame(10)],
  ['messages', 'socket.io', () => '/socket.io/?EIO=4&transport=websocket', frame(1, '40/none,')],
  ['pings', 'socket.io', () => '/socket.io/?EIO=4&transport=websocket', frame(9)],
  ['pongs', 'socket.io', () => '/socket.io/?EIO=4&transport=websocket', frame(10)],
])(
  'security 38: an endless flood of small %s to %s ends its connection',
  async (_what, _where, path, one) => {
    const socket = await upgraded(path())
    const piece = Buffer.concat(Array<Buffer>(10_000).fill(one))
    let isOpen = true
    const closed = new Promise<void>((resolve) => socket.once('close', () => resolve())).then(() => (isOpen = false))
    socket.resume()
    // Up to eight million frames. A connection that is reset ends with 'error'.
    for (let pieces = 0; pieces < 800 && isOpen; pieces++) {
      if (!socket.write(piece)) await Promise.race([once(socket, 'drain').catch(() => undefined), closed])
    }
    await closed
    expect((await fetch(`${origin().origin}/api/health`)).status).toBe(200)
  },
  60_000,
)
