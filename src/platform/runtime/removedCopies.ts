import { randomUUID } from 'node:crypto'
import { readdir, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { errorCodeOf } from '../errors'
import { removePath } from '../share/changes/removal'

const REMOVED = '.removed-'

export interface RemovedCopies {
  /** Resolves when the copy is renamed, so that its path is free. Its removal continues. */
  add(copy: string): Promise<void>
  /** Aborts the removal in progress. */
  close(): Promise<void>
}

/**
 * Removes copies in the background, one after another: a million files take a minute, and the manager must not wait for
 * that. Continues removals that an earlier platform did not finish.
 */
export function openRemovedCopies(directory: string): RemovedCopies {
  const closing = new AbortController()
  // The next platform retries a removal that fails.
  const remove = (path: string) =>
    closing.signal.aborted ? undefined : removePath(path, closing.signal).catch(() => undefined)
  let removing = readdir(directory).then(
    async (names) => {
      for (const name of names) if (name.startsWith(REMOVED)) await remove(join(directory, name))
    },
    () => undefined,
  )
  return {
    async add(copy) {
      const path = join(directory, `${REMOVED}${randomUUID()}`)
      try {
        await rename(copy, path)
      } catch (error) {
        if (errorCodeOf(error) === 'ENOENT') return
        throw error
      }
      removing = removing.then(() => remove(path))
    },
    async close() {
      closing.abort()
      await removing
    },
  }
}
