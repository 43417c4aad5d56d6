import pLimit from 'p-limit'
import { AppError } from '../../errors'
import { openStatePool } from '../db'
import { waitForLeasedLock } from './leasedLock'

/**
 * Limit of concurrent locks. Each holds a connection, from a separate pool because the removal of a large directory
 * takes minutes.
 */
const MAX_CONCURRENT = 16
/** How long to wait for another replica. */
const MAX_WAIT_MS = 10_000

export interface ReplicaLocks {
  /**
   * Runs work while no other replica runs work with one of the same keys.
   * @throws AppError CONFLICT if another replica does so for longer than 10 s
   */
  run<Result>(this: void, keys: string[], work: () => Promise<Result>): Promise<Result>
  close(): Promise<void>
}

/** @param url of the state's database */
export function openReplicaLocks(url: string): ReplicaLocks {
  const limit = pLimit(MAX_CONCURRENT)
  const pool = openStatePool(url)
  return {
    run: (keys, work) =>
      limit(async () => {
        const lock = await waitForLeasedLock(
          pool,
          keys.map((key) => `entry ${key}`),
          MAX_WAIT_MS,
        )
        if (!lock)
          throw new AppError('CONFLICT', 'Another request is changing this file or directory. Try again in a moment.')
        try {
          return await work()
        } finally {
          await lock.release()
        }
      }),
    close: () => pool.end(),
  }
}
