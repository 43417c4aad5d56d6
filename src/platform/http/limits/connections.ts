import type { IncomingMessage, Server } from 'node:http'
import type { Duplex } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { createKeyedCounter } from '../../concurrency/keyedCounter'
import { networkOf, type TrustedProxies } from '../../accounts/clientAddress'
import { AppError } from '../../errors'
import { openFileLimits } from '../../openFiles'
import { isInstanceAddress } from '../proxies/localConnections'
import { onResponseEnd } from '../responseEvents'

/** Time for responses in progress to end, and for peers to answer a close, when the platform stops. */
const GRACE_MS = 2000
const CHECK_MS = 50
/** Throttle of the log messages about refused connections. */
const LOG_INTERVAL_MS = 60_000
/** Connections of one client address, at most half of all. An office behind one address needs several per browser. */
const MAX_PER_ADDRESS = 1000
/** The share of all connections for the instances of this machine, so that their clients leave some for operators. */
const INSTANCES_SHARE = 1 / 4

/**
 * Limits connections: in total, so that descriptors remain for PostgreSQL, files and processes; per client address; and
 * for all instances of this machine. Connections above a limit are closed. For a trusted proxy, the calls and sockets
 * of each forwarded address are counted instead.
 * @param openFiles the process's limit of open files; undefined if unknown
 */
export function limitConnections(
  app: FastifyInstance,
  proxies: TrustedProxies,
  openFiles = openFileLimits()?.soft,
): void {
  const { server, log } = app
  const total = openFiles === undefined ? Infinity : Math.floor(openFiles / 2)
  const limitPerAddress = Math.min(MAX_PER_ADDRESS, Math.ceil(total / 2))
  const limitOfInstances = Math.min(MAX_PER_ADDRESS, Math.ceil(total * INSTANCES_SHARE))
  const counts = createKeyedCounter<string>()
  const logTotalLimit = throttle(LOG_INTERVAL_MS, () =>
    log.warn(
      { limit: total },
      'refusing connections: too many are open. The limit is half of the process’s limit of open files (ulimit -n)',
    ),
  )
  const logAddressLimit = throttle(LOG_INTERVAL_MS, (address: string) =>
    log.warn({ limit: limitPerAddress, address }, 'refusing connections: too many are open from one address'),
  )

  /** @returns a function that releases the place, to be called once; undefined if the limit is reached */
  function reserveConnection(address: string): (() => void) | undefined {
    const limits: [key: string, limit: number][] = [[networkOf(address), limitPerAddress]]
    if (isInstanceAddress(address)) limits.push(['all instances', limitOfInstances])
    if (limits.some(([key, limit]) => counts.get(key) >= limit)) {
      logAddressLimit(address)
      return undefined
    }
    for (const [key] of limits) counts.add(key, 1)
    return () => {
      for (const [key] of limits) counts.add(key, -1)
    }
  }

  server.on('error', (error) => {
    // A failure to listen is reported to the caller of listen.
    if (server.listening) log.error({ err: error }, 'failed to accept a connection')
  })
  if (total !== Infinity) server.maxConnections = total
  server.on('drop', () => logTotalLimit())
  server.on('connection', (socket) => {
    const { remoteAddress } = socket
    if (remoteAddress === undefined || proxies.includes(remoteAddress)) return
    const release = reserveConnection(remoteAddress)
    if (release) socket.once('close', release)
    else socket.destroy()
  })
  server.on('upgrade', (request: IncomingMessage, socket: Duplex) => {
    if (!proxies.includes(request.socket.remoteAddress)) return
    const release = reserveConnection(proxies.addressOf(request))
    if (release) socket.once('close', release)
    else socket.destroy()
  })

  app.addHook('onRequest', async (request, reply) => {
    const { socket } = request.raw
    if (!proxies.includes(socket.remoteAddress)) return
    const release = reserveConnection(proxies.addressOf(request.raw))
    if (!release)
      throw new AppError(
        'TOO_MANY_TRIES',
        'Too many requests from your address are in progress. Try again in a moment.',
        { retryAfterSeconds: 1 },
      )
    onResponseEnd(request, reply, release)
  })
}

function throttle<Parameters extends unknown[]>(
  ms: number,
  call: (...parameters: Parameters) => void,
): (...parameters: Parameters) => void {
  let calledAt = -Infinity
  return (...parameters) => {
    if (performance.now() - calledAt < ms) return
    calledAt = performance.now()
    call(...parameters)
  }
}

/**
 * Closes all connections with the app: idle ones at once, others after their response or a grace period. Must be called
 * last, so that the WebSockets' own closing has begun.
 */
export function closeConnectionsOnShutdown(app: FastifyInstance): void {
  const { server }: { server: Server } = app
  const upgraded = new Set<{ destroy(): void }>()
  server.on('upgrade', (_request, socket) => {
    upgraded.add(socket)
    socket.once('close', () => upgraded.delete(socket))
  })
  app.addHook('preClose', async () => {
    let isOver = false
    const closed = new Promise<void>((resolve) => {
      server.close(() => {
        isOver = true
        resolve()
      })
    })
    const deadline = performance.now() + GRACE_MS
    while (!isOver && performance.now() < deadline) {
      await Promise.race([closed, delay(CHECK_MS)])
      // Connections whose response has ended since.
      server.closeIdleConnections()
    }
    server.closeAllConnections()
    for (const socket of upgraded) socket.destroy()
    await closed
  })
}
