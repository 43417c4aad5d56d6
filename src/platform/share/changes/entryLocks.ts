import type { OpenDirectory } from '../jail'
import { createKeyedQueue } from '../../concurrency/keyedQueue'

/**
 * Mutex per directory entry. Every operation that changes what a name refers to (save, move, delete) holds the locks of
 * all names it touches, so that none sees another's incomplete change. It locks within this platform only, with its
 * replicas; `work` must handle changes by other programs. Not reentrant: `work` must not take another lock.
 * @param entries identified by device and inode of the directory, so that two paths to one directory share a lock
 */
export type EntryLocks = <Result>(
  entries: [directory: OpenDirectory, name: string][],
  work: () => Promise<Result>,
) => Promise<Result>

/** Runs `work` while no other replica of the platform runs work with one of the keys. */
export type ReplicaLocks = <Result>(keys: string[], work: () => Promise<Result>) => Promise<Result>

/** @param withReplicaLocks for a platform with replicas */
export function createEntryLocks(withReplicaLocks: ReplicaLocks = (_keys, work) => work()): EntryLocks {
  const queue = createKeyedQueue()
  return async (entries, work) => {
    const keys = new Map<string, string>()
    for (const [directory, name] of entries) {
      const { dev, ino } = await directory.stats()
      // Device numbers differ between machines.
      keys.set(`${dev}:${ino}:${name}`, `${ino}:${name}`)
    }
    const workAlone = () => withReplicaLocks([...new Set(keys.values())], work)
    // A fixed lock order prevents deadlocks.
    return [...keys.keys()].sort().reduceRight((inner, key) => () => queue(key, inner), workAlone)()
  }
}
