import { readFileSync } from 'node:fs'
import type { Server } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'

/** So long what is being answered may go on when the platform is closed, and peers have to answer a close. In milliseconds. */
const GRACE_MS = 2000
const CHECK_MS = 50
/** That connections are refused is logged at most this often. In milliseconds. */
const TELL_MS = 60_000

/**
 * Keeps connections from taking every descriptor: PostgreSQL, files and processes need theirs. What is above the limit is
 * closed as soon as it is accepted; one that cannot be accepted, for want of descriptors after all, is logged.
 * @param openFiles how many files the process may have open; undefined: nobody knows.
 */
export function limitConnections({ server, log }: FastifyInstance, openFiles = openFileLimit()): void {
  server.on('error', (error) => {
    // A failure to listen is told to who called for it.
    if (server.listening) log.error({ err: error }, 'a connection could not be accepted')
  })
  if (openFiles === undefined) return
  const limit = Math.floor(openFiles / 2)
  server.maxConnections = limit
  let toldAt = -Infinity
  server.on('drop', () => {
    if (Date.now() - toldAt < TELL_MS) return
    toldAt = Date.now()
    log.warn({ limit }, 'connections are refused: there are too many. The limit is half of the open files that the process may have (ulimit -n)')
  })
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
    for (const deadline = Date.now() + GRACE_MS; !isOver && Date.now() < deadline; ) {
      await Promise.race([closed, delay(CHECK_MS)])
      // Those that have given their answer meanwhile.
      server.closeIdleConnections()
    }
    server.closeAllConnections()
    for (const socket of upgraded) socket.destroy()
    await closed
  })
}
