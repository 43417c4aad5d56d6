import type { Socket } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../errors'

/** @throws AppError TOO_SLOW if the client has disconnected, because no event will follow */
export function throwIfDisconnected({ raw }: FastifyRequest): void {
  if (raw.socket.destroyed) throw new AppError('TOO_SLOW', 'The client disconnected.')
}

/** Callbacks by connection. One listener per socket, because pipelined requests share it. */
const closeCallbacks = new WeakMap<Socket, Set<() => void>>()

/** Calls `release` once, when the response was sent or the connection has closed. */
export function onResponseEnd({ raw: { socket } }: FastifyRequest, { raw }: FastifyReply, release: () => void): void {
  const releases = closeCallbacks.get(socket) ?? new Set()
  if (!closeCallbacks.has(socket)) {
    closeCallbacks.set(socket, releases)
    socket.once('close', () => releases.forEach((over) => over()))
  }
  const over = () => {
    if (releases.delete(over)) release()
  }
  releases.add(over)
  raw.once('finish', over)
}
