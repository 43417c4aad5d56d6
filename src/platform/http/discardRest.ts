import type { IncomingMessage } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'

/** In bytes. */
const MOST = 16 * 2 ** 20
/** In milliseconds. */
const MOST_MS = 5000

/**
 * Before a failure is answered that ends the connection, because not all of the request's body was read: throws away what is still on its
 * way, in place of that. A connection that is closed with bytes unread is reset, and its client may lose the answer. If the rest is much or
 * does not come, the connection is closed all the same.
 */
export function discardUnread({ raw }: FastifyRequest, reply: FastifyReply): void {
  if (reply.getHeader('connection') !== 'close' || raw.complete || raw.readableEnded || raw.destroyed) return
  const { raw: answer } = reply
  const isLast = !answer.shouldKeepAlive
  reply.removeHeader('connection')
  // Where the client wants the connection to be closed, Node.js would do that with the answer.
  answer.shouldKeepAlive = true
  void discardRest(raw).then((isAll) => {
    const end = () => raw.socket.end()
    if (!isAll) raw.destroy()
    else if (isLast && answer.writableFinished) end()
    else if (isLast) answer.once('finish', end)
  })
}

/** @returns whether all of it came, before too much did or too late. */
function discardRest(raw: IncomingMessage): Promise<boolean> {
  return new Promise((resolve) => {
    let bytes = 0
    const count = (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes > MOST) settle(false)
    }
    const isOver = () => settle(true)
    const timer = setTimeout(() => settle(false), MOST_MS)
    // A form's parser may still be at its other end.
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
