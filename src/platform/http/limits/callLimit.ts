import { createKeyedLimit } from '../../concurrency/keyedLimit'
import { AppError } from '../../errors'
import { stateFailure } from '../../state/db'

/** A call that waits longer fails. While the database is down, each call ahead of it takes its full timeout. */
const MAX_WAIT_MS = 4000
/** A failure that took this long means that the database hangs. A broken connection fails at once. */
const HANG_MS = 1000

/**
 * Limits the concurrent calls of a client that query the database. A key identifies the client, such as its network.
 * Further calls of the same client wait, so that a client with hundreds of calls does not delay others in the
 * database's queues and the event loop. When the database hangs, the waiting calls fail with the running ones: each
 * would hang again, and the last would be answered far too late.
 * @returns a function that runs a call, and throws AppError UNAVAILABLE if the call waited for too long
 */
export function createCallLimit(
  atATime: number,
): <Result>(key: string, work: () => Promise<Result>, since?: number) => Promise<Result> {
  const limit = createKeyedLimit<string>(atATime)
  let hang: { at: number; error: unknown } | undefined
  return (key, work, since = performance.now()) =>
    limit(key, async () => {
      const begunAt = performance.now()
      if (hang && since < hang.at) throw hang.error
      if (begunAt - since > MAX_WAIT_MS)
        throw new AppError('UNAVAILABLE', 'Too many calls are waiting. Try again in a moment.')
      try {
        return await work()
      } catch (error) {
        const now = performance.now()
        if (now - begunAt > HANG_MS && isUnavailable(error)) hang = { at: now, error }
        throw error
      }
    })
}

function isUnavailable(error: unknown): boolean {
  const failure = stateFailure(error)
  return failure instanceof AppError && failure.code === 'UNAVAILABLE'
}
