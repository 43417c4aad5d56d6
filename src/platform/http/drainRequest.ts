import type { IncomingMessage } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'

/** Maximum bytes to discard. */
const MAX_BYTES = 16 * 2 ** 20
/** In bytes. A chunk counts as this much at least, because each takes as much time as a longer one. */
const MIN_CHUNK_COST = 1024
const TIMEOUT_MS = 5000

/**
 * Reads and discards the rest of a request's body before a failure is answered. Closing a connection with unread bytes
 * resets it, and the client may lose the response. If the rest is too long or too slow, the connection is closed
 * anyway.
 */
export function drainRequest({ raw }: FastifyRequest, reply: FastifyReply): void {
  if (reply.getHeader('connection') !== 'close' || raw.complete || raw.readableEnded || raw.destroyed) return
  const { raw: response } = reply
  const isLast = !response.shouldKeepAlive
  reply.removeHeader('connection')
  // Node.js would close the connection with the response if the client asked for that.
  response.shouldKeepAlive = true
  void readToEnd(raw).then((isAll) => {
    const end = () => raw.socket.end()
    if (!isAll) raw.destroy()
    else if (isLast && response.writableFinished) end()
    else if (isLast) response.once('finish', end)
  })
}

/** @returns whether all of it arrived within the limits */
function readToEnd(raw: IncomingMessage): Promise<boolean> {
  return new Promise((resolve) => {
    let bytes = 0
    const count = (chunk: Buffer) => {
      bytes += Math.max(chunk.length, MIN_CHUNK_COST)
      if (bytes > MAX_BYTES) settle(false)
    }
    const isOver = () => settle(true)
    const timer = setTimeout(() => settle(false), TIMEOUT_MS)
    // The multipart parser may still be attached.
    raw.unpipe()
    raw.on('data', count).once('end', isOver).once('close', isOver)
    raw.resume()

    function settle(isAll: boolean): void {
      clearTimeout(timer)
      raw.off('data', count).off('end', isOver).off('close', isOver)
      if (!isAll) raw.pause()
      resolve(isAll)
    }
  })
}
