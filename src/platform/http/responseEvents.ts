import type { EventEmitter } from 'node:events'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../errors'

/** @throws AppError TOO_SLOW if the client has disconnected, because no event will follow */
export function throwIfDisconnected({ raw }: FastifyRequest): void {
  if (raw.socket.destroyed) throw new AppError('TOO_SLOW', 'The client disconnected.')
}

/** Callbacks by response and by connection. */
const callbacks = new WeakMap<EventEmitter, Set<() => void>>()

/** Calls `release` once, when the response was sent or the connection has closed; at once if it has closed before. */
export function onResponseEnd({ raw: { socket } }: FastifyRequest, { raw }: FastifyReply, release: () => void): void {
  if (socket.destroyed) return release()
  const [ofConnection, ofResponse] = [callbacksOn(socket, 'close'), callbacksOn(raw, 'finish')]
  const over = () => {
    ofResponse.delete(over)
    if (ofConnection.delete(over)) release()
  }
  ofConnection.add(over)
  ofResponse.add(over)
}

/**
 * @returns a function that takes a request and a callback, which is called once: when the handler has answered, even if
 * the client has disconnected long before
 */
export function createOnResponse(app: FastifyInstance): (request: FastifyRequest, release: () => void) => void {
  const releases = new WeakMap<FastifyRequest, () => void>()
  app.addHook('onSend', async (request) => {
    releases.get(request)?.()
    releases.delete(request)
  })
  return (request, release) => void releases.set(request, release)
}

/** One listener for all, because pipelined requests share a connection, and many callbacks wait for a response. */
function callbacksOn(emitter: EventEmitter, event: 'close' | 'finish'): Set<() => void> {
  const known = callbacks.get(emitter)
  if (known) return known
  const added = new Set<() => void>()
  callbacks.set(emitter, added)
  emitter.once(event, () => added.forEach((over) => over()))
  return added
}
