import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { once } from 'node:events'

export interface BreakableProxy {
  port: number
  /** The number of messages that clients have sent since the last `breakAfter`. */
  sent: () => number
  /** After this number of messages and the response to the last one, all connections break and new ones are refused. */
  breakAfter(messages: number): void
  /** From now on nothing is passed on and nothing is closed, as when a machine vanishes. */
  fallSilent(): void
  /** Nothing more of the present connections is passed on, not even their end, as when a firewall is restarted. */
  forgetConnections(): void
  /** Whether the connections have been broken. */
  isBroken: () => boolean
  mend(): void
  /** @returns the address of the client whose connection the server sees with this source port */
  sourceOf(localPort: number): string | undefined
  close(): Promise<void>
}

/**
 * A proxy to a server that breaks at a chosen message, as when a client is killed or a cable is pulled.
 * @param host to listen on
 */
export async function breakableProxy(
  target: { host: string; port: number },
  host = '127.0.0.1',
): Promise<BreakableProxy> {
  const sources = new Map<number, string>()
  const sockets = new Set<Socket>()
  let sent = 0
  let limit = Infinity
  let broken = false
  let isSilent = false
  let generation = 0

  function breakAll(): void {
    broken = true
    for (const socket of sockets) socket.destroy()
  }
  const server = createServer((client) => {
    if (broken) {
      client.destroy()
      return
    }
    const upstream = connect(target.port, target.host, () => {
      const { localPort } = upstream
      if (localPort === undefined) return
      sources.set(localPort, client.remoteAddress ?? '')
      upstream.on('close', () => sources.delete(localPort))
    })
    const began = generation
    const isForgotten = () => began !== generation
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => undefined)
      socket.on('close', () => {
        sockets.delete(socket)
        if (isForgotten()) return
        client.destroy()
        upstream.destroy()
      })
    }
    let isLast = false
    client.on('data', (chunk: Buffer) => {
      if (broken || isSilent || isForgotten()) return
      sent++
      isLast ||= sent >= limit
      upstream.write(chunk)
    })
    upstream.on('data', (chunk: Buffer) => {
      if (isLast) breakAll()
      else if (!isSilent && !isForgotten()) client.write(chunk)
    })
  })
  server.listen(0, host)
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    sent: () => sent,
    isBroken: () => broken,
    sourceOf: (localPort) => sources.get(localPort),
    fallSilent: () => void (isSilent = true),
    forgetConnections: () => void generation++,
    breakAfter(messages) {
      sent = 0
      limit = messages
    },
    mend() {
      broken = false
      isSilent = false
      limit = Infinity
    },
    async close() {
      breakAll()
      server.close()
      await once(server, 'close')
    },
  }
}
