import type { Server } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import type { TestPlatform } from './startPlatform'

/**
 * Connections to servers that listen, for requests that no client library would send. After each test, they are
 * destroyed.
 * @returns a function that connects, and ignores the errors of the connection. Linux allows any address of 127.0.0.0/8
 * as the local one.
 */
export function useSockets(): (app: { server: Server }, localAddress?: string) => Socket {
  const sockets: Socket[] = []
  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.destroy()
  })

  return ({ server }, localAddress = '127.0.0.1') => {
    const { port } = server.address() as AddressInfo
    const socket = connect({ port, host: '127.0.0.1', localAddress }).on('error', () => undefined)
    sockets.push(socket)
    return socket
  }
}

/** As `useSockets`, to a platform, which listens from then on. */
export function useRawConnections(platform: () => TestPlatform): (localAddress?: string) => Socket {
  const connectTo = useSockets()
  beforeAll(async () => {
    const { app } = platform()
    if (!app.server.listening) await app.listen({ host: '127.0.0.1', port: 0 })
  })
  return (localAddress) => connectTo(platform().app, localAddress)
}
