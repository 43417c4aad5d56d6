import { createKeyedLimit } from '../concurrency/keyedLimit'
import { AppError } from '../errors'

/** A call that waited for longer fails: behind others that wait for a state that is away, it would wait again and again. */
const MAX_WAIT_MS = 4000

/**
 * Limits work that asks the database for a client, at a time and by a key such as its network. The rest of a client's
 * calls wait, so that somebody who makes hundreds at once fills neither the queue of the database nor that of the event
 * loop before others.
 * @returns a function that throws also AppError UNAVAILABLE for a call that waited for too long since a time
 */
export function createCallLimit(
  atATime: number,
): <Result>(key: string, work: () => Promise<Result>, since?: number) => Promise<Result> {
  const limit = createKeyedLimit<string>(atATime)
  return (key, work, since = performance.now()) =>
    limit(key, async () => {
      if (performance.now() - since > MAX_WAIT_MS)
        throw new AppError('UNAVAILABLE', 'Too many calls are waiting. Try again in a moment.')
      return work()
    })
}
