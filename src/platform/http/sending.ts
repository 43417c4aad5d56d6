import type { FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../errors'

/** Who takes nothing of an answer for so long is given up. In milliseconds. */
export const SILENCE_MS = 60_000

/** @throws AppError TOO_SLOW when who asked has hung up already: nothing tells of it any more. */
export function checkAwaited({ raw }: FastifyRequest): void {
  if (raw.socket.destroyed) throw new AppError('TOO_SLOW', 'Nobody waits for the answer any more.')
}

/** Calls back once, when an answer has been sent or its connection has closed; that is closed when `silenceMs` pass in which nothing of it is taken. */
export function onceSent(request: FastifyRequest, { raw }: FastifyReply, silenceMs: number, release: () => void): void {
  const { socket } = request.raw
  const over = () => {
    raw.off('finish', over)
    socket.off('close', over)
    release()
  }
  raw.once('finish', over)
  // Of an answer that waits behind another on its connection nothing else tells.
  socket.once('close', over)
  raw.setTimeout(silenceMs, () => socket.destroy())
}
