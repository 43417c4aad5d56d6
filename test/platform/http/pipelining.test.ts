import crypto from 'node:crypto'
import { once } from 'node:events'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { useEmptyPlatform } from '../../support/platform/startPlatform'
import { until } from '../../support/platform/until'

const platform = useEmptyPlatform()
let port: number
const sockets: Socket[] = []

beforeAll(async () => {
  await platform().app.listen({ host: '127.0.0.1', port: 0 })
  port = (platform().app.server.address() as AddressInfo).port
})
afterEach(() => {
  jest.restoreAllMocks()
  for (const socket of sockets.splice(0)) socket.destroy()
})

const requests = (path: string, count: number) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`.repeat(count)

function pipeline(path: string, count: number): Socket {
  const socket = connect({ port, host: '127.0.0.1' }).on('error', () => undefined)
  sockets.push(socket)
  socket.write(requests(path, count))
  return socket
}

test('four pipelined requests are answered, and four more after them', async () => {
  let text = ''
  const socket = pipeline('/api/auth/methods', 4).on('data', (data: Buffer) => (text += data.toString()))
  const answered = (count: number) => until(() => text.match(/HTTP\/1\.1 200 /g)?.length === count)
  await answered(4)
  socket.write(requests('/api/auth/methods', 4))
  await answered(8)
})

/** Waits until the platform has handled all that it has read. */
const nextCall = () => fetch(`http://127.0.0.1:${port}/api/health`)

test('security 127: of a thousand pipelined calls, four are handled, and the connection is closed', async () => {
  // Each request that is handled gets an id.
  const newId = jest.spyOn(crypto, 'randomUUID')
  await once(pipeline('/api/no-such-call', 1000).resume(), 'close')
  expect(newId).toHaveBeenCalledTimes(4)
})

test('security 127: of a thousand pipelined polls of socket.io, four are handled, and the connection is closed', async () => {
  const authenticate = jest.spyOn(platform().callers, 'authenticate')
  await once(pipeline('/socket.io/?EIO=4&transport=polling', 1000).resume(), 'close')
  await nextCall()
  expect(authenticate).toHaveBeenCalledTimes(4)
})
