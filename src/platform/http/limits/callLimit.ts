import type { FastifyRequest } from 'fastify'
import { networkOf } from '../../accounts/clientAddress'
import { createKeyedLimit } from '../../concurrency/keyedLimit'
import { AppError } from '../../errors'
import { stateFailure } from '../../state/db'

/** A call that waits longer fails. While the database is down, each call ahead of it takes its full timeout. */
const MAX_WAIT_MS = 4000
/** A failure that took this long means that the database hangs. A broken connection fails at once. */
const HANG_MS = 1000
/** Of calls without a session. */
const MAX_CONCURRENT_PER_NETWORK = 4
const MAX_AUTHENTICATIONS_PER_NETWORK = 16

/** Says nothing about the database: another limit, which has more clients, must not take it for a hang. */
class WaitedTooLong extends AppError {
  constructor() {
    super('UNAVAILABLE', 'Too many calls are waiting. Try again in a moment.')
  }
}

type CallLimit = <Result>(key: string, work: () => Promise<Result>, since?: number) => Promise<Result>

/**
 * Limits the concurrent calls of a client that query the database. Further calls of the same client wait, so that a
 * client with hundreds of calls does not delay others in the database's queues and the event loop. When the database
 * hangs, the waiting calls fail with the running ones: each would hang again, and the last would be answered far too
 * late.
 * @returns a function that runs a call. Its `key` identifies the client, such as its network. `since` is the time from
 * which the call waits, on the clock of `performance.now`. It throws AppError UNAVAILABLE if the call waited too long.
 */
export function createCallLimit(maxConcurrent: number): CallLimit {
  const limit = createKeyedLimit<string>(maxConcurrent)
  let hang: { at: number; error: unknown } | undefined
  return (key, work, since = performance.now()) =>
    limit(key, async () => {
      const begunAt = performance.now()
      if (hang && since < hang.at) throw hang.error
      if (begunAt - since > MAX_WAIT_MS) throw new WaitedTooLong()
      try {
        return await work()
      } catch (error) {
        const now = performance.now()
        if (now - begunAt > HANG_MS && isUnavailable(error)) hang = { at: now, error }
        throw error
      }
    })
}

export type PublicCallLimit = <Result>(request: FastifyRequest, work: () => Promise<Result>) => Promise<Result>

/** Limits the concurrent calls without a session of a network, as `createCallLimit` does. */
export function createPublicCallLimit(): PublicCallLimit {
  const limit = createCallLimit(MAX_CONCURRENT_PER_NETWORK)
  return (request, work) => limit(networkOf(request.ip), work)
}

/** Limits the concurrent authentications of a network, of calls and of handshakes together. */
export const createAuthenticationLimit = (): CallLimit => createCallLimit(MAX_AUTHENTICATIONS_PER_NETWORK)

function isUnavailable(error: unknown): boolean {
  const failure = stateFailure(error)
  return failure instanceof AppError && !(failure instanceof WaitedTooLong) && failure.code === 'UNAVAILABLE'
}
