import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Pipelined requests of one connection. Browsers and proxies send one at a time, so honest clients need one. */
const MAX_PIPELINED = 4

type RequestListener = (request: IncomingMessage, response: ServerResponse) => void

/** The part of a connection's parser (Node.js, `_http_server`) that is used here. */
interface Parser {
  /** Called with the headers of each request. Set again before the parser gets another connection. */
  onIncoming: (() => number) | null
}

/**
 * Closes a connection with too many pipelined requests, and handles none of the rest: Node.js goes on to parse what it
 * has read of a closed connection, 64 KiB at a time, which is a thousand requests. Call this after all other listeners
 * for requests are added, because its own must run before them.
 */
export function limitPipelining(server: Server): void {
  const waiting = new WeakMap<Socket, number>()
  const listeners = server.listeners('request') as RequestListener[]
  server.removeAllListeners('request')
  server.on('request', (request, response) => {
    const { socket } = request
    const count = (waiting.get(socket) ?? 0) + 1
    if (count > MAX_PIPELINED || socket.destroyed) return end(socket)
    waiting.set(socket, count)
    response.once('close', () => waiting.set(socket, (waiting.get(socket) ?? 1) - 1))
    for (const handle of listeners) handle.call(server, request, response)
  })
}

function end(socket: Socket & { parser?: Parser | null }): void {
  socket.destroy()
  // Without this, each further request still takes a tenth of the time that it takes to answer it.
  if (socket.parser) socket.parser.onIncoming = () => 0
}
