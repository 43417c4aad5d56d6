import type { Pool } from 'pg'
import pLimit from 'p-limit'
import type { DatabaseType } from '../../contract/database'
import { AppError } from '../errors'
import { waitForLeasedLock } from '../state/locks/leasedLock'

/** Each change holds a database connection, and the rest of the platform needs most of them. */
const PARALLEL_CHANGES = 4
/** How long to wait for the lock of a change in progress or of a killed platform. */
const LOCK_MS = 1000

/**
 * A change that waits longer than this is refused. Behind changes on a server that hangs, it would wait for minutes.
 */
const QUEUE_MS = 10_000

/**
 * @throws AppError UNAVAILABLE after a wait of QUEUE_MS for other databases; CONFLICT if another change of the database
 * holds the lock for longer than LOCK_MS
 */
export type WithDatabaseLock = <Result>(
  type: DatabaseType,
  name: string,
  work: () => Promise<Result>,
) => Promise<Result>

/**
 * Lets one platform replica at a time change a database, by advisory locks.
 * @param pool connections to the platform's own database, one for each lock that is held
 */
export function createDatabaseLock(pool: Pool, queueMs = QUEUE_MS): WithDatabaseLock {
  // One limit per type: a server that is down must not delay the other type.
  const limits = { sql: pLimit(PARALLEL_CHANGES), mongo: pLimit(PARALLEL_CHANGES) }

  return async (type, name, work) => {
    const since = performance.now()
    return limits[type](async () => {
      if (performance.now() - since > queueMs)
        throw new AppError('UNAVAILABLE', 'Other changes of databases are still in progress. Try again in a moment.')
      const key = `database ${type} ${type === 'mongo' ? name.toLowerCase() : name}`
      const lock = await waitForLeasedLock(pool, key, LOCK_MS)
      if (!lock)
        throw new AppError(
          'CONFLICT',
          `The database "${name}" is being changed by another request. Try again in a moment.`,
        )
      try {
        return await work()
      } finally {
        await lock.release()
      }
    })
  }
}
