import crypto from 'node:crypto'
import type { Socket } from 'node:net'
import { useRawConnections } from '../../support/platform/rawConnections'
import { useEmptyPlatform } from '../../support/platform/startPlatform'
import { until } from '../../support/platform/until'

const platform = useEmptyPlatform()
const connect = useRawConnections(platform)

afterEach(() => jest.restoreAllMocks())

const requests = (path: string, count: number) =>
  `GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer x\r\n\r\n`.repeat(count)

function pipeline(path: string, count: number): Socket {
  const socket = connect()
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

/** It may be reset, because the platform does not read the rest. */
const closed = (socket: Socket) => new Promise((resolve) => socket.once('close', resolve))

/** Waits until the platform has handled all that it has read. */
const nextCall = () => platform().call('GET', '/api/health')

test('security 127: of a thousand pipelined calls, four are handled, and the connection is closed', async () => {
  // Each request that is handled gets an id.
  const newId = jest.spyOn(crypto, 'randomUUID')
  await closed(pipeline('/api/no-such-call', 1000).resume())
  expect(newId).toHaveBeenCalledTimes(4)
})

test('security 127: of a thousand pipelined polls of socket.io, four are handled, and the connection is closed', async () => {
  const known = jest.spyOn(platform().callers, 'known')
  await closed(pipeline('/socket.io/?EIO=4&transport=polling', 1000).resume())
  await nextCall()
  expect(known).toHaveBeenCalledTimes(4)
})
