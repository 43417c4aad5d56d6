import type { FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../errors'
import { userOf } from './access'
import { checkAwaited, onceAnswered } from './sending'

/** Of one user. */
const MOST_OF_ONE = 4
/** When it makes sense to ask again. In seconds. */
const RETRY_AFTER = 10

/** Zips are packed while they are sent: each takes a reader of the disk and a compressor for as long as who asked takes for it. */
export interface ZipsUnderWay {
  /**
   * Counts one for who asks, until it has been sent or its connection has closed.
   * @throws AppError TOO_MANY_TRIES where as many of theirs are under way already, TOO_SLOW when nobody waits for it any more
   */
  begin(request: FastifyRequest, reply: FastifyReply): void
}

export function createZipsUnderWay(): ZipsUnderWay {
  const underWay = new Map<number, number>()

  return {
    begin(request, reply) {
      const { userId } = userOf(request)
      checkAwaited(request)
      const count = underWay.get(userId) ?? 0
      if (count >= MOST_OF_ONE) {
        throw new AppError(
          'TOO_MANY_TRIES',
          `${MOST_OF_ONE} zips are on their way to you already. Try again when one of them is done.`,
          { retryAfterSeconds: RETRY_AFTER },
        )
      }
      underWay.set(userId, count + 1)
      onceAnswered(request, reply, () => {
        const left = (underWay.get(userId) ?? 0) - 1
        if (left > 0) underWay.set(userId, left)
        else underWay.delete(userId)
      })
    },
  }
}
