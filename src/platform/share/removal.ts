import { constants } from 'node:fs'
import { open, rmdir, unlink } from 'node:fs/promises'
import { errorCodeOf } from '../errors'
import { namesIn, openSubdirectory, type HeldDirectory, type RawName } from './jail'

/**
 * Removes an entry with all it holds. Every step is relative to a held directory and follows no link, so that what is swapped
 * in meanwhile is at most removed itself, and nothing it points at. What is gone already is no failure.
 * @throws Node.js errors of the file system; what was removed by then stays removed.
 */
export async function removeTree(directory: HeldDirectory, name: RawName): Promise<void> {
  const below = await openSubdirectory(directory, name)
  if (!below) {
    await unlink(directory.entry(name)).catch(ignoreGone)
    return
  }
  try {
    // Entries that come to be meanwhile make rmdir fail: then once more.
    for (let round = 0; ; round += 1) {
      for (const entry of await namesIn(below)) {
        try {
          await unlink(below.entry(entry))
        } catch (error) {
          // Linux says the first of a directory, others the second (unlink(2)).
          if (['EISDIR', 'EPERM'].includes(errorCodeOf(error) ?? '')) await removeTree(below, entry)
          else ignoreGone(error)
        }
      }
      try {
        await rmdir(directory.entry(name))
        return
      } catch (error) {
        const code = errorCodeOf(error)
        if (code === 'ENOENT') return
        if (round >= 3 || (code !== 'ENOTEMPTY' && code !== 'EEXIST')) throw error
      }
    }
  } finally {
    await below.close()
  }
}

function ignoreGone(error: unknown): void {
  if (errorCodeOf(error) !== 'ENOENT') throw error
}

/** Opened for writing, made anew: a name that is there, as whatever, is a failure (EEXIST). */
export function createFile(directory: HeldDirectory, name: string, mode = 0o644) {
  return open(directory.entry(name), constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY | constants.O_NOFOLLOW, mode)
}
