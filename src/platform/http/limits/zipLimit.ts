import type { FastifyReply, FastifyRequest } from 'fastify'
import { createKeyedCounter } from '../../concurrency/keyedCounter'
import { AppError } from '../../errors'
import { userOf } from '../access'
import { throwIfDisconnected, onResponseEnd } from '../responseEvents'

/** Limit of concurrent zips per user. */
const MAX_PER_USER = 4
const RETRY_AFTER_SECONDS = 10

/** Limits the zips in progress: each holds a file and a compressor as long as its client reads. */
export interface ZipLimit {
  /**
   * Counts a zip until it was sent or its connection has closed.
   * @throws AppError TOO_MANY_TRIES over the user's limit, TOO_SLOW if the client has disconnected
   */
  begin(request: FastifyRequest, reply: FastifyReply): void
}

export function createZipLimit(): ZipLimit {
  const active = createKeyedCounter<number>()

  return {
    begin(request, reply) {
      const { userId } = userOf(request)
      throwIfDisconnected(request)
      if (active.get(userId) >= MAX_PER_USER) {
        throw new AppError(
          'TOO_MANY_TRIES',
          `${MAX_PER_USER} of your zip downloads are in progress. Try again when one of them has finished.`,
          { retryAfterSeconds: RETRY_AFTER_SECONDS },
        )
      }
      active.add(userId, 1)
      onResponseEnd(request, reply, () => active.add(userId, -1))
    },
  }
}
