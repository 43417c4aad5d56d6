import { readFileSync } from 'node:fs'
import type { IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import type { TrustedProxies } from '../accounts/clientAddress'
import { networkOf } from '../accounts/limits'
import { AppError } from '../errors'
import { isInstance } from './localPeers'
import { onceAnswered } from './sending'

/** So long what is being answered may go on when the platform is closed, and peers have to answer a close. In milliseconds. */
const GRACE_MS = 2000
const CHECK_MS = 50
/** That connections are refused is logged at most this often. In milliseconds. */
const TELL_MS = 60_000
/** Connections of one client address, or half of all where that is less. An office behind one address has several for each browser. */
const MOST_OF_ADDRESS = 1000
/** Connections of all instances of this machine together, as a part of all: however many users they have, there is room for people. */
const PART_OF_INSTANCES = 1 / 4
/** Requests of one connection that are not answered yet. Browsers and proxies send one at a time. */
const MOST_PIPELINED = 16

/**
 * Limits connections: in total, so that they do not take every descriptor (PostgreSQL, files and processes need theirs), per client
 * address, so that one client does not take them all, of all instances of this machine together, and the requests that wait on one connection. What is above a limit is closed.
 * A trusted proxy's connections are shared by its clients: there the calls and sockets of each forwarded address are counted instead.
 * @param openFiles how many files the process may have open; undefined: nobody knows.
 */
export function limitConnections(app: FastifyInstance, proxies: TrustedProxies, openFiles = openFileLimit()): void {
  const { server, log } = app
  const total = openFiles === undefined ? Infinity : Math.floor(openFiles / 2)
  const limit = Math.min(MOST_OF_ADDRESS, Math.ceil(total / 2))
  const limitOfInstances = Math.min(MOST_OF_ADDRESS, Math.ceil(total * PART_OF_INSTANCES))
  const counts = new Map<string, number>()
  const tellOfTotal = atMostOnceIn(TELL_MS, () =>
    log.warn(
      { limit: total },
      'connections are refused: there are too many. The limit is half of the open files that the process may have (ulimit -n)',
    ),
  )
  const tellOfOne = atMostOnceIn(TELL_MS, (address: string) =>
    log.warn({ limit, address }, 'connections are refused: there are too many from one address'),
  )

  /** @returns a function that gives the place back, to be called once; undefined when the address has none left. */
  function takePlace(address: string): (() => void) | undefined {
    const places: [string, number][] = [[networkOf(address), limit]]
    if (isInstance(address)) places.push(['all instances', limitOfInstances])
    if (places.some(([key, most]) => (counts.get(key) ?? 0) >= most)) {
      tellOfOne(address)
      return undefined
    }
    for (const [key] of places) counts.set(key, (counts.get(key) ?? 0) + 1)
    return () => {
      for (const [key] of places) {
        const left = (counts.get(key) ?? 0) - 1
        if (left > 0) counts.set(key, left)
        else counts.delete(key)
      }
    }
  }

  server.on('error', (error) => {
    // A failure to listen is told to who called for it.
    if (server.listening) log.error({ err: error }, 'a connection could not be accepted')
  })
  if (total !== Infinity) server.maxConnections = total
  server.on('drop', () => tellOfTotal())
  server.on('connection', (socket) => {
    const { remoteAddress } = socket
    if (remoteAddress === undefined || proxies.includes(remoteAddress)) return
    const giveBack = takePlace(remoteAddress)
    if (giveBack) socket.once('close', giveBack)
    else socket.destroy()
  })
  server.on('upgrade', (request: IncomingMessage, socket: Duplex) => {
    if (!proxies.includes(request.socket.remoteAddress)) return
    const giveBack = takePlace(proxies.addressOf(request))
    if (giveBack) socket.once('close', giveBack)
    else socket.destroy()
  })

  const waiting = new WeakMap<Socket, number>()
  app.addHook('onRequest', async (request, reply) => {
    const { socket } = request.raw
    const count = (waiting.get(socket) ?? 0) + 1
    waiting.set(socket, count)
    onceAnswered(request, reply, () => waiting.set(socket, (waiting.get(socket) ?? 1) - 1))
    if (count > MOST_PIPELINED) {
      socket.destroy()
      throw new AppError('TOO_MANY_TRIES', 'Too many requests wait on one connection.')
    }
    if (!proxies.includes(socket.remoteAddress)) return
    const giveBack = takePlace(proxies.addressOf(request.raw))
    if (!giveBack)
      throw new AppError('TOO_MANY_TRIES', 'Too many calls from your address are under way. Try again in a moment.', {
        retryAfterSeconds: 1,
      })
    onceAnswered(request, reply, giveBack)
  })
}

function atMostOnceIn<Parameters extends unknown[]>(
  ms: number,
  tell: (...parameters: Parameters) => void,
): (...parameters: Parameters) => void {
  let toldAt = -Infinity
  return (...parameters) => {
    if (Date.now() - toldAt < ms) return
    toldAt = Date.now()
    tell(...parameters)
  }
}

/** How many files this process may have open, where the system tells. */
export function openFileLimit(): number | undefined {
  let limits: string
  try {
    limits = readFileSync('/proc/self/limits', 'utf8')
  } catch {
    return undefined
  }
  const soft = /^Max open files\s+(\d+)/m.exec(limits)?.[1]
  return soft === undefined ? undefined : Number(soft)
}

/**
 * With the app every connection ends, soon and whatever its peer does: idle ones at once, those in use when their answer is
 * given or the grace is over. To be called last, so that the sockets' own ends have begun.
 */
export function endConnections(app: FastifyInstance): void {
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
    for (const deadline = Date.now() + GRACE_MS; !isOver && Date.now() < deadline;) {
      await Promise.race([closed, delay(CHECK_MS)])
      // Those that have given their answer meanwhile.
      server.closeIdleConnections()
    }
    server.closeAllConnections()
    for (const socket of upgraded) socket.destroy()
    await closed
  })
}
