import type { FastifyReply } from 'fastify'
import { AppError } from '../errors'
import type { Router } from './router'

/** Aborted, with an AppError TOO_SLOW, when who asked hangs up before the answer. */
export function hangUpOf({ raw }: FastifyReply): AbortSignal {
  const hungUp = new AbortController()
  const leave = () => {
    if (!raw.writableFinished)
      hungUp.abort(new AppError('TOO_SLOW', 'Nobody waits for the answer any more. What was asked for goes on.'))
  }
  // Maybe while it was looked up who asks: then nothing tells of it any more.
  if (raw.destroyed) leave()
  else raw.once('close', leave)
  return hungUp.signal
}

/**
 * For calls that wait for what the manager does.
 * @returns a function that gives a reply's signal: as of `hangUpOf`, and aborted with an AppError UNAVAILABLE when the platform is closed.
 */
export function watchClosing(app: Router): (reply: FastifyReply) => AbortSignal {
  const waiting = new Set<AbortController>()
  let isClosing = false
  const tell = (call: AbortController) =>
    call.abort(
      new AppError('UNAVAILABLE', 'The platform is being stopped. What was asked for goes on when it runs again.'),
    )
  app.addHook('preClose', async () => {
    isClosing = true
    waiting.forEach(tell)
  })
  return (reply) => {
    const hungUp = hangUpOf(reply)
    if (hungUp.aborted) return hungUp
    const call = new AbortController()
    waiting.add(call)
    reply.raw.once('close', () => waiting.delete(call))
    if (isClosing) tell(call)
    return AbortSignal.any([hungUp, call.signal])
  }
}
