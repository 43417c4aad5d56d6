import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { once } from 'node:events'

export interface BreakableProxy {
  port: number
  /** How many messages clients have sent since the last `breakAfter`. */
  sent: () => number
  /** After so many messages and the server's answer to the last one, everything breaks and nobody gets through. */
  breakAfter(messages: number): void
  /** Whether it has broken. */
  isBroken: () => boolean
  mend(): void
  close(): Promise<void>
}

/** A way to a server that breaks at a chosen message: what a killed client, or a pulled cable, leaves behind. */
export async function breakableProxy(target: { host: string; port: number }): Promise<BreakableProxy> {
  const sockets = new Set<Socket>()
  let sent = 0
  let limit = Infinity
  let broken = false

  function breakAll(): void {
    broken = true
    for (const socket of sockets) socket.destroy()
  }
  const server = createServer((client) => {
    if (broken) {
      client.destroy()
      return
    }
    const upstream = connect(target.port, target.host)
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => undefined)
      socket.on('close', () => {
        sockets.delete(socket)
        client.destroy()
        upstream.destroy()
      })
    }
    let isLast = false
    client.on('data', (chunk: Buffer) => {
      if (broken) return
      sent++
      isLast ||= sent >= limit
      upstream.write(chunk)
    })
    upstream.on('data', (chunk: Buffer) => {
      if (isLast) breakAll()
      else client.write(chunk)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    sent: () => sent,
    isBroken: () => broken,
    breakAfter(messages) {
      sent = 0
      limit = messages
    },
    mend() {
      broken = false
      limit = Infinity
    },
    async close() {
      breakAll()
      server.close()
      await once(server, 'close')
    },
  }
}
