import { connect, type AddressInfo, type Socket } from 'node:net'
import type { TestPlatform } from './startPlatform'

/**
 * Makes a platform listen, for requests that no client library would send. After each test, its connections are
 * destroyed.
 * @returns a function that connects, and ignores the errors of the connection
 */
export function useRawConnections(platform: () => TestPlatform): (localAddress?: string) => Socket {
  const sockets: Socket[] = []
  let port: number

  beforeAll(async () => {
    await platform().app.listen({ host: '127.0.0.1', port: 0 })
    port = (platform().app.server.address() as AddressInfo).port
  })
  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.destroy()
  })

  return (localAddress = '127.0.0.1') => {
    const socket = connect({ port, host: '127.0.0.1', localAddress }).on('error', () => undefined)
    sockets.push(socket)
    return socket
  }
}
