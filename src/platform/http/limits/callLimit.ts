import { createKeyedLimit } from '../../concurrency/keyedLimit'
import { AppError } from '../../errors'
import { stateFailure } from '../../state/db'

/** A call that waited for longer fails: behind others that wait for a state that is away, it would wait again and again. */
const MAX_WAIT_MS = 4000
/** How long a failure takes when the state hangs. A connection that breaks fails at once. */
const HANG_MS = 1000

/**
 * Limits work that asks the database for a client, at a time and by a key such as its network. The rest of a client's
 * calls wait, so that somebody who makes hundreds at once fills neither the queue of the database nor that of the event
 * loop before others. When the state hangs, those that have waited meanwhile fail with those that asked it: each would hang
 * again, and the last would be answered far too late.
 * @returns a function that throws also AppError UNAVAILABLE for a call that waited for too long since a time
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
