import { once } from 'node:events'
import type { Socket } from 'node:net'
import { AppError } from '../../../src/platform/errors'
import { handshakeOf } from '../../support/platform/handshake'
import { useRawConnections } from '../../support/platform/rawConnections'
import { useEmptyPlatform } from '../../support/platform/startPlatform'
import { until } from '../../support/platform/until'

const platform = useEmptyPlatform()
const connect = useRawConnections(platform)

afterEach(() => jest.restoreAllMocks())

test.each<[string, (...headers: string[]) => string]>([
  [
    'long-polling',
    (...headers) => ['GET /socket.io/?EIO=4&transport=polling HTTP/1.1', ...headers, '\r\n'].join('\r\n'),
  ],
  ['socket.io by WebSocket', (...headers) => handshakeOf('/socket.io/?EIO=4&transport=websocket', ...headers)],
  ['consoles', (...headers) => handshakeOf('/api/logs/lobby/lobby-0a1b2c', ...headers)],
])(
  'security 179: of hundreds of handshakes for %s with different keys, sixteen of one network are authenticated at a time, together with its calls, and others overtake them',
  async (_what, requestOf) => {
    let open = () => {}
    const gate = new Promise<void>((resolve) => (open = resolve))
    const asked: string[] = []
    let inProgress = 0
    let most = 0
    jest.spyOn(platform().callers, 'authenticate').mockImplementation(async (token = '') => {
      asked.push(token)
      most = Math.max(most, (inProgress += 1))
      await gate
      inProgress -= 1
      throw new AppError('NO_SESSION', 'This API key is not valid.')
    })
    const send = (localAddress: string, token: string): Socket => {
      const socket = connect(localAddress)
      socket.write(requestOf('Host: x', `Authorization: Bearer ${token}`))
      return socket
    }
    const answers = Array.from({ length: 200 }, (_handshake, at) => once(send('127.0.0.1', `qd_${at}`), 'data'))
    await until(() => asked.length >= 16)
    connect().write('GET /api/deployments HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer qd_call\r\n\r\n')
    send('127.0.0.2', 'qd_other')
    await until(() => asked.includes('qd_other'))
    open()
    await Promise.all(answers)
    expect(most).toBe(17)
  },
)
