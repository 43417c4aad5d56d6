import { watch, type FSWatcher } from 'node:fs'
import type { HeldDirectory } from './jail'
import { isOwnName } from './ownNames'

/** How many directories of one tree are watched: each costs one of the kernel's watches, of which a user may have 8192 by default on older kernels. */
const MOST_WATCHED = 4000

/**
 * Watches the directories of a tree, never its files: the kernel tells a directory's watcher of changes in its files as well. It does not
 * read the tree itself; who walks it tells of each directory, before reading its names, so that nothing falls in between.
 */
export interface TreeWatch {
  /** @param path of the directory relative to the top, empty for the top itself. */
  visit: (directory: HeldDirectory, path: string) => Promise<void>
  /** A walk has come to its end: what it did not visit is not watched any more. */
  endWalk(): void
  close(): void
}

interface Watched {
  watcher: FSWatcher
  /** Device and inode: another directory may have taken the path. */
  identity: string
}

/**
 * @param onChange is called for every change of an entry that is not the platform's own.
 * @param onUnwatched is called, once, when a directory cannot be watched: its changes have to be looked for.
 * @param mostWatched for tests.
 */
export function createTreeWatch(
  onChange: () => void,
  onUnwatched: (reason: string) => void,
  mostWatched = MOST_WATCHED,
): TreeWatch {
  const watched = new Map<string, Watched>()
  const visited = new Set<string>()
  let [isTold, isClosed] = [false, false]

  function tell(reason: string): void {
    if (!isTold) onUnwatched(reason)
    isTold = true
  }

  function forget(path: string): void {
    watched.get(path)?.watcher.close()
    watched.delete(path)
  }

  return {
    async visit(directory, path) {
      const { dev, ino } = await directory.stats()
      const identity = `${dev}:${ino}`
      if (isClosed) return
      visited.add(path)
      if (watched.get(path)?.identity === identity) return
      forget(path)
      if (watched.size >= mostWatched) return tell(`it holds more than ${mostWatched} directories`)
      try {
        const watcher = watch(directory.self, { persistent: false })
        watcher.on('change', (_event, name) => {
          if (!isOwnName(String(name))) onChange()
        })
        watcher.on('error', (error) => {
          tell(error.message)
          if (watched.get(path)?.watcher === watcher) forget(path)
        })
        watched.set(path, { watcher, identity })
      } catch (error) {
        // The kernel has no watch left (ENOSPC), or the platform no descriptor.
        tell(error instanceof Error ? error.message : String(error))
      }
    },
    endWalk() {
      for (const path of [...watched.keys()]) if (!visited.has(path)) forget(path)
      visited.clear()
    },
    close() {
      isClosed = true
      for (const path of [...watched.keys()]) forget(path)
    },
  }
}
