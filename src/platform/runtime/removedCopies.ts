import { randomUUID } from 'node:crypto'
import { rename } from 'node:fs/promises'
import { AppError, errorCodeOf } from '../errors'
import { removeTree } from '../share/changes/removal'
import { namesIn, withDirectory, type OpenDirectory } from '../share/jail'

const REMOVED = '.removed-'

export interface RemovedCopies {
  /**
   * Resolves when the copy is renamed, so that its name is free. Its removal continues. Does nothing without a copy.
   * @throws Node.js errors of the file system
   */
  add(name: string): Promise<void>
  /** Aborts the removal in progress. */
  close(): Promise<void>
}

/**
 * Removes copies in the background, one after another: a million files take a minute, and the manager must not wait for
 * that. Continues removals that an earlier platform did not finish.
 * @param openCopies opens the directory of the copies. It may fail: then there are none
 */
export function openRemovedCopies(openCopies: () => Promise<OpenDirectory>): RemovedCopies {
  const closing = new AbortController()

  async function removeAll(): Promise<void> {
    await withDirectory(openCopies(), async (copies) => {
      for await (const name of namesIn(copies)) {
        if (closing.signal.aborted) return
        // The next removal, or the next platform, retries one that fails.
        if (String(name).startsWith(REMOVED)) await removeTree(copies, name, closing.signal).catch(() => undefined)
      }
    }).catch(() => undefined)
  }

  let removing = removeAll()
  return {
    async add(name) {
      try {
        await withDirectory(openCopies(), (copies) =>
          rename(copies.entryPath(name), copies.entryPath(`${REMOVED}${randomUUID()}`)),
        )
      } catch (error) {
        if (error instanceof AppError || ['ENOENT', 'ENOTDIR'].includes(errorCodeOf(error) ?? '')) return
        throw error
      }
      removing = removing.then(removeAll)
    },
    async close() {
      closing.abort()
      await removing
    },
  }
}
