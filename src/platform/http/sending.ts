import type { Socket } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../errors'

/** @throws AppError TOO_SLOW when who asked has hung up already: nothing tells of it any more. */
export function checkAwaited({ raw }: FastifyRequest): void {
  if (raw.socket.destroyed) throw new AppError('TOO_SLOW', 'Nobody waits for the answer any more.')
}

/** What to do when a connection closes before its answers are given. One listener for all: requests may wait behind each other. */
const whenClosed = new WeakMap<Socket, Set<() => void>>()

/** Calls back once: when a request has been answered, or its connection has closed. */
export function onceAnswered({ raw: { socket } }: FastifyRequest, { raw }: FastifyReply, release: () => void): void {
  const releases = whenClosed.get(socket) ?? new Set()
  if (!whenClosed.has(socket)) {
    whenClosed.set(socket, releases)
    socket.once('close', () => releases.forEach((over) => over()))
  }
  const over = () => {
    if (releases.delete(over)) release()
  }
  releases.add(over)
  raw.once('finish', over)
}
