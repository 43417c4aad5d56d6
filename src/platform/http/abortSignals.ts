import type { FastifyReply } from 'fastify'
import { AppError } from '../errors'
import type { Router } from './router'

/** @returns a signal that aborts with an AppError TOO_SLOW when the client disconnects before the response ends */
export function abortOnDisconnect({ raw }: FastifyReply): AbortSignal {
  const controller = new AbortController()
  const onClose = () => {
    if (!raw.writableFinished)
      controller.abort(new AppError('TOO_SLOW', 'The client disconnected. The operation continues in the background.'))
  }
  // The connection may have closed during authentication, in which case no event follows.
  if (raw.destroyed) onClose()
  else raw.once('close', onClose)
  return controller.signal
}

/**
 * For calls that wait for the manager.
 * @returns a function like `abortOnDisconnect`, whose signals also abort with an AppError UNAVAILABLE when the platform
 * stops
 */
export function createAbortOnShutdown(app: Router): (reply: FastifyReply) => AbortSignal {
  const waiting = new Set<AbortController>()
  let isClosing = false
  const abort = (call: AbortController) =>
    call.abort(
      new AppError('UNAVAILABLE', 'The platform is shutting down. The operation continues when it runs again.'),
    )
  app.addHook('preClose', async () => {
    isClosing = true
    waiting.forEach(abort)
  })
  return (reply) => {
    const disconnected = abortOnDisconnect(reply)
    if (disconnected.aborted) return disconnected
    const call = new AbortController()
    waiting.add(call)
    reply.raw.once('close', () => waiting.delete(call))
    if (isClosing) abort(call)
    return AbortSignal.any([disconnected, call.signal])
  }
}
