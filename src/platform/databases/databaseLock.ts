import type { Pool } from 'pg'
import type { DatabaseType } from '../../contract/database'
import { AppError } from '../errors'
import { waitForLeasedLock } from '../state/locks/leasedLock'

/** How long to wait for the lock of a change in progress or of a killed platform. */
const LOCK_MS = 1000

/** @throws AppError CONFLICT if another change of the database holds the lock for longer than LOCK_MS */
export type WithDatabaseLock = <Result>(
  type: DatabaseType,
  name: string,
  work: () => Promise<Result>,
) => Promise<Result>

/**
 * Lets one platform replica at a time change a database, by advisory locks.
 * @param pool connections to the platform's own database, one for each lock that is held. The rest of the platform
 * needs most of them: callers limit how many changes run concurrently.
 */
export function createDatabaseLock(pool: Pool): WithDatabaseLock {
  return async (type, name, work) => {
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
  }
}
