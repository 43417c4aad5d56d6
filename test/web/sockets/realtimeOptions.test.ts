import { waitFor } from '@testing-library/react'
import { io } from 'socket.io-client'
import { firstViewShown } from '../../../src/web/chunks'
import { connectRealtime } from '../../../src/web/sockets/connectRealtime'

jest.mock('socket.io-client', () => ({ io: jest.fn(() => mockSocket) }))

const handlers = new Map<string, () => void>()
const mockSocket = {
  active: true,
  connected: false,
  connect: jest.fn(),
  disconnect: jest.fn(),
  on: (event: string, handler: () => void) => handlers.set(event, handler),
  off: jest.fn(),
}

beforeAll(firstViewShown)
afterEach(() => jest.useRealTimers())

test('§9 the Socket.IO client gets exactly these options and the origin of the page', async () => {
  connectRealtime({ connected() {}, disconnected() {}, received() {} })
  await waitFor(() => expect(io).toHaveBeenCalled())
  expect(io).toHaveBeenCalledWith(window.location.origin, {
    reconnection: true,
    reconnectionAttempts: Infinity,
    reconnectionDelay: 1000,
    reconnectionDelayMax: 5000,
    randomizationFactor: 0.5,
    timeout: 20_000,
    transports: ['polling', 'websocket', 'webtransport'],
    forceNew: true,
  })
})

test.each(['disconnect', 'connect_error'])(
  '§9 the client retries 5 s after a %s that Socket.IO does not retry',
  async (event) => {
    jest.useFakeTimers()
    handlers.clear()
    const connection = connectRealtime({ connected() {}, disconnected() {}, received() {} })
    await jest.advanceTimersByTimeAsync(0)
    mockSocket.connect.mockClear()
    mockSocket.active = false
    handlers.get(event)?.()
    await jest.advanceTimersByTimeAsync(4900)
    expect(mockSocket.connect).not.toHaveBeenCalled()
    await jest.advanceTimersByTimeAsync(200)
    expect(mockSocket.connect).toHaveBeenCalledTimes(1)

    handlers.get(event)?.()
    connection.close()
    await jest.advanceTimersByTimeAsync(60_000)
    expect(mockSocket.connect).toHaveBeenCalledTimes(1)
  },
)
