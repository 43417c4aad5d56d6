import { createSocket, type RemoteInfo, type Socket } from 'node:dgram'
import { createServer, type AddressInfo } from 'node:net'
import { bedrockPing } from '../../../src/platform/deployments/monitoring/bedrockPing'
import { playersAt } from '../../../src/platform/deployments/monitoring/players'

let server: Socket | undefined
afterEach(() => void server?.close())

/** Starts a server that gets every datagram. */
async function serve(answer: (message: Buffer, client: RemoteInfo, server: Socket) => void): Promise<number> {
  const socket = (server = createSocket('udp4'))
  socket.on('message', (message, client) => answer(message, client, socket))
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
  return socket.address().port
}

const MAGIC = '00ffff00fefefefefdfdfdfd12345678'

/** A pong, as servers of the Bedrock Edition send it. */
function pong(text: string, ping: Buffer = Buffer.alloc(9)): Buffer {
  const length = Buffer.alloc(2)
  length.writeUInt16BE(Buffer.byteLength(text))
  return Buffer.concat([
    Buffer.of(0x1c),
    ping.subarray(1, 9),
    Buffer.alloc(8),
    Buffer.from(MAGIC, 'hex'),
    length,
    Buffer.from(text),
  ])
}

test('§14 the number of players of a Bedrock server is that of its pong', async () => {
  const port = await serve((ping, { port: to }, socket) => {
    expect(ping.toString('hex')).toMatch(new RegExp(`^01.{16}${MAGIC}.{16}$`))
    socket.send(
      pong('MCPE;Dedicated Server;800;1.21.80;7;10;13253860892328930865;world;Survival;1;19132;19133;', ping),
      to,
    )
  })
  expect(await bedrockPing('127.0.0.1', port, 5000)).toBe(7)
})

test.each([
  ['of another kind', Buffer.concat([Buffer.of(0x1d), pong('MCPE;a;1;1;7;10;').subarray(1)])],
  [
    'without the magic bytes',
    Buffer.concat([pong('').subarray(0, 17), Buffer.alloc(16), pong('MCPE;a;1;1;7;10;').subarray(33)]),
  ],
  ['that is empty', Buffer.alloc(0)],
  ['that ends early', pong('').subarray(0, 34)],
  ['with too few fields', pong('MCPE;a;1;1')],
  ['with a number that is none', pong('MCPE;a;1;1;-7;10;')],
])('a datagram %s is no response', async (_kind, datagram) => {
  const port = await serve((_ping, { port: to }, socket) => socket.send(datagram, to))
  expect(await bedrockPing('127.0.0.1', port, 5000)).toBeUndefined()
})

test('a port on which nobody listens, or nobody answers, has no number of players', async () => {
  const silent = await serve(() => undefined)
  expect(await bedrockPing('127.0.0.1', silent, 50)).toBeUndefined()
  server?.close()
  server = undefined
  expect(await bedrockPing('127.0.0.1', silent, 5000)).toBeUndefined()
})

test('security 133: of a server that announces an endless response, a few hundred kilobytes are read in one connection', async () => {
  let connections = 0
  let sent = 0
  const flooding = createServer((socket) => {
    connections += 1
    socket.on('error', () => undefined).on('close', () => (sent += socket.bytesWritten))
    // The length of the response: 2 GiB.
    socket.write(Buffer.from('ffffffff07', 'hex'))
    const flood = () => {
      while (socket.writable && socket.write(Buffer.alloc(2 ** 20)));
      socket.once('drain', flood)
    }
    flood()
  })
  await new Promise<void>((resolve) => flooding.listen(0, '127.0.0.1', resolve))
  try {
    expect(await playersAt('127.0.0.1', (flooding.address() as AddressInfo).port)).toBeUndefined()
    await new Promise((resolve) => flooding.close(resolve))
    expect(connections).toBe(1)
    // With what the kernel buffers.
    expect(sent).toBeLessThan(16 * 2 ** 20)
  } finally {
    flooding.close()
  }
})
