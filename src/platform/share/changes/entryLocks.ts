import type { OpenDirectory } from '../jail'
import { createKeyedQueue } from '../../concurrency/keyedQueue'

/**
 * Mutex per directory entry. Every operation that changes what a name refers to (save, move, delete) holds the locks of
 * all names it touches, so that none sees a half-done change of another. It locks within this process only; `work` must
 * handle changes by other programs. Not reentrant: `work` must not take another lock.
 * @param entries identified by device and inode of the directory, so that two paths to one directory share a lock
 */
export type EntryLocks = <Result>(
  entries: [directory: OpenDirectory, name: string][],
  work: () => Promise<Result>,
) => Promise<Result>

export function createEntryLocks(): EntryLocks {
  const queue = createKeyedQueue()
  return async (entries, work) => {
    const keys = await Promise.all(
      entries.map(async ([directory, name]) => {
        const { dev, ino } = await directory.stats()
        return `${dev}:${ino}:${name}`
      }),
    )
    // A fixed lock order prevents deadlocks.
    return [...new Set(keys)].sort().reduceRight((inner, key) => () => queue(key, inner), work)()
  }
}
