import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { onResponseEnd } from './responseEvents'

/** Time for load balancers to notice that this replica is not ready any more, while it still serves. */
const NOTICE_MS = 5000
/** Further time for calls in progress, uploads for example. With the shutdown itself it stays below 25 s. */
const CALLS_MS = 8000
const CHECK_MS = 50

/** The announced shutdown of a replica. Other replicas take over its calls, so that none fails. */
export interface Ending {
  /** Once true, the replica reports that it is not ready. */
  readonly hasBegun: boolean
  /**
   * Resolves when the platform may close: new calls reach other replicas, and calls in progress have ended or exceeded
   * their time.
   */
  begin(): Promise<void>
}

/** @param times in milliseconds, for tests */
export function announceEnding(app: FastifyInstance, times = { notice: NOTICE_MS, calls: CALLS_MS }): Ending {
  let beginning: Promise<void> | undefined
  let active = 0
  app.addHook('onRequest', async (request, reply) => {
    active += 1
    onResponseEnd(request, reply, () => (active -= 1))
    // A keep-alive connection would send the next call to this replica.
    if (beginning) reply.header('connection', 'close')
  })

  async function begin(): Promise<void> {
    await delay(times.notice)
    const deadline = performance.now() + times.calls
    while (active > 0 && performance.now() < deadline) await delay(CHECK_MS)
  }

  return {
    get hasBegun() {
      return beginning !== undefined
    },
    begin: () => (beginning ??= begin()),
  }
}
