import { watch, type FSWatcher } from 'node:fs'
import type { OpenDirectory } from '../jail'
import { isInternalName } from '../internalNames'

/** Watched directories per tree. Each takes an inotify watch, of which older kernels allow a user 8192 by default. */
const MAX_WATCHED = 4000

/**
 * Watches the directories of a tree, not its files: inotify reports changes of files to their directory. Does not walk
 * the tree itself; the caller visits each directory before it reads the names, so that no change is missed.
 */
export interface TreeWatch {
  /** @param path relative to the top, empty for the top itself. */
  visit: (directory: OpenDirectory, path: string) => Promise<void>
  /** Ends a walk: directories that it did not visit are no longer watched. */
  removeUnvisited(): void
  close(): void
}

interface Watched {
  watcher: FSWatcher
  /** Device and inode, because another directory may have taken the path. */
  identity: string
}

/**
 * @param onChange called for every change of an entry, except internal files of the platform.
 * @param onUnwatched called once, when a directory cannot be watched and must be polled.
 * @param maxWatched overridden by tests.
 */
export function createTreeWatch(
  onChange: () => void,
  onUnwatched: (reason: string) => void,
  maxWatched = MAX_WATCHED,
): TreeWatch {
  const watched = new Map<string, Watched>()
  const visited = new Set<string>()
  let isReported = false
  let isClosed = false

  function reportUnwatched(reason: string): void {
    if (!isReported) onUnwatched(reason)
    isReported = true
  }

  function unwatch(path: string): void {
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
      unwatch(path)
      if (watched.size >= maxWatched) return reportUnwatched(`it holds more than ${maxWatched} directories`)
      try {
        const watcher = watch(directory.procPath, { persistent: false })
        watcher.on('change', (_event, name) => {
          if (!isInternalName(String(name))) onChange()
        })
        watcher.on('error', (error) => {
          reportUnwatched(error.message)
          if (watched.get(path)?.watcher === watcher) unwatch(path)
        })
        watched.set(path, { watcher, identity })
      } catch (error) {
        // No inotify watch (ENOSPC) or no descriptor is left.
        reportUnwatched(error instanceof Error ? error.message : String(error))
      }
    },
    removeUnvisited() {
      for (const path of [...watched.keys()]) if (!visited.has(path)) unwatch(path)
      visited.clear()
    },
    close() {
      isClosed = true
      for (const path of [...watched.keys()]) unwatch(path)
    },
  }
}
