import type { FastifyInstance } from 'fastify'
import { createKeyedCounter } from '../../concurrency/keyedCounter'
import { AppError } from '../../errors'
import { createOnResponse } from '../responseEvents'

/** Per user. The console has a few in flight, a program that makes its calls one after another has one. */
const MAX_PER_USER = 200
const RETRY_AFTER_SECONDS = 1

/**
 * Limits the calls of a user in flight that may change something: changes of one deployment wait for each other in the
 * database, with connections that other users’ calls then wait for. A call counts until its handler has answered, even
 * after its client has disconnected. Reads are not limited: they do not wait for each other, and a client may have many
 * long polls. Must run after `guardRoutes`, which finds the user.
 */
export function limitChangesInFlight(app: FastifyInstance): void {
  const inFlight = createKeyedCounter<number>()
  const onResponse = createOnResponse(app)
  app.addHook('preHandler', async (request) => {
    const { user, method } = request
    if (!user || method === 'GET' || method === 'HEAD') return
    const { userId } = user
    if (inFlight.get(userId) >= MAX_PER_USER)
      throw new AppError(
        'TOO_MANY_TRIES',
        `${MAX_PER_USER} of your calls are in progress. Try again when some of them have finished.`,
        { retryAfterSeconds: RETRY_AFTER_SECONDS },
      )
    inFlight.add(userId, 1)
    onResponse(request, () => inFlight.add(userId, -1))
  })
}
