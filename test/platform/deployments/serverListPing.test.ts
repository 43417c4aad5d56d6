import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { serverListPing } from '../../../src/platform/deployments/monitoring/serverListPing'

let server: Server | undefined
const sockets = new Set<Socket>()
afterEach(() => {
  for (const socket of sockets) socket.destroy()
  server?.close()
})

/** Starts a server that gives this response to every connection. */
async function serve(answer: (socket: Socket) => void): Promise<number> {
  server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.once('data', () => answer(socket))
  })
  await new Promise<void>((resolve) => server!.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

const varint = (value: number): number[] => (value > 0x7f ? [(value & 0x7f) | 0x80, ...varint(value >>> 7)] : [value])
function status(json: string): Buffer {
  const text = Buffer.from(json)
  const body = Buffer.from([0, ...varint(text.length), ...text])
  return Buffer.from([...varint(body.length), ...body])
}
const ping = (port: number, timeoutMs = 5000) => serverListPing('127.0.0.1', port, timeoutMs)

test('§14 the player count is `players.online`; the sample may list fewer players, and invalid entries are skipped', async () => {
  const sample = [
    { name: 'Steve', id: '5627dd98-e6be-3c21-b8a8-e92344183641' },
    { name: 'Alex', id: 'none' },
    { name: '<b>', id: '' },
    null,
    'x',
  ]
  const answer = status(JSON.stringify({ players: { max: 100, online: 42, sample }, favicon: 'x'.repeat(40_000) }))
  const port = await serve((socket) => {
    // In chunks, as from a network.
    socket.write(answer.subarray(0, 1))
    setImmediate(() => socket.write(answer.subarray(1)))
  })
  expect(await ping(port)).toEqual({
    count: 42,
    names: { '5627dd98-e6be-3c21-b8a8-e92344183641': 'Steve', [expectedOfflineUuid('Alex')]: 'Alex' },
  })
})

/** Computed by a Java server: UUID.nameUUIDFromBytes("OfflinePlayer:Alex"). */
const expectedOfflineUuid = (name: 'Alex') => ({ Alex: '36532b5e-c442-3dbb-a24c-c7e55d0f979a' })[name]

test('§14 a server without a player sample reports its player count', async () => {
  const port = await serve((socket) => socket.write(status('{"players":{"max":7,"online":5}}')))
  expect(await ping(port)).toEqual({ count: 5, names: {} })
})

test.each<[string, (socket: Socket) => void]>([
  ['closes the connection', (socket) => socket.end()],
  ['does not send JSON', (socket) => socket.write(status('nonsense'))],
  ['reports no count', (socket) => socket.write(status('{"players":{}}'))],
  ['reports an invalid count', (socket) => socket.write(status('{"players":{"online":-3}}'))],
  ['speaks another protocol', (socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')],
  ['announces too long a packet', (socket) => socket.write(Buffer.from([0xff, 0xff, 0xff, 0x7f]))],
  ['announces a negative length', (socket) => socket.write(Buffer.from([0xff, 0xff, 0xff, 0xff, 0x0f]))],
])('a failed ping gives unknown rather than zero: a server that %s', async (_case, answer) => {
  const port = await serve(answer)
  expect(await ping(port)).toBeUndefined()
})

test('a ping to a silent server times out, and one to a closed port fails at once', async () => {
  const port = await serve(() => undefined)
  expect(await ping(port, 100)).toBeUndefined()
  for (const socket of sockets) socket.destroy()
  await new Promise((resolve) => server!.close(resolve))
  expect(await ping(port, 600_000)).toBeUndefined()
})
