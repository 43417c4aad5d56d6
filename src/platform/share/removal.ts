import { randomUUID } from 'node:crypto'
import { constants } from 'node:fs'
import { open, realpath, rename, rmdir, unlink } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { errorCodeOf } from '../errors'
import { holding, namesIn, openRealDirectory, openSubdirectory, type HeldDirectory, type RawName } from './jail'
import { ownName } from './ownNames'

/** How many levels of a tree are held open while it is removed. Directories below them are first moved up to its top. */
const HELD_LEVELS = 32
/** Entries that come to be while a directory is emptied make its removal fail: then it is emptied again, so often. */
const MOST_ROUNDS = 4

/**
 * Removes an entry with all it holds, however deep that is, with a bounded number of descriptors. Every step is relative to a held
 * directory and follows no link, so that what is swapped in meanwhile is at most removed itself, and nothing it points at. What is
 * gone already is no failure.
 * @throws the signal's reason; Node.js errors of the file system; what was removed by then stays removed, and what lay deep may be at the top under a name of the platform's own.
 */
export async function removeTree(directory: HeldDirectory, name: RawName, signal?: AbortSignal): Promise<void> {
  const top = await openSubdirectory(directory, name)
  if (top) await removeDirectory(directory, name, top, { directory: top, moved: 0, signal }, 1)
  else await unlink(directory.entry(name)).catch(ignoreGone)
}

/** As `removeTree`, of an absolute path of the platform's own directories. */
export async function removePath(path: string, signal?: AbortSignal): Promise<void> {
  const above = await realpath(dirname(path)).then(openRealDirectory).catch(ignoreGone)
  if (above) await holding(Promise.resolve(above), (directory) => removeTree(directory, basename(path), signal))
}

interface Top {
  directory: HeldDirectory
  /** How many directories were moved up to it so far. */
  moved: number
  signal: AbortSignal | undefined
}

/** @param below the directory of that name; closed at the end. */
async function removeDirectory(
  directory: HeldDirectory,
  name: RawName,
  below: HeldDirectory,
  top: Top,
  level: number,
): Promise<void> {
  try {
    for (let round = 1; ; round += 1) {
      const movedBefore = top.moved
      for (const entry of await namesIn(below)) {
        top.signal?.throwIfAborted()
        try {
          await unlink(below.entry(entry))
        } catch (error) {
          // Linux says the first of a directory, others the second (unlink(2)).
          if (['EISDIR', 'EPERM'].includes(errorCodeOf(error) ?? '')) await removeOrMoveUp(below, entry, top, level)
          else ignoreGone(error)
        }
      }
      try {
        await rmdir(directory.entry(name))
        return
      } catch (error) {
        const code = errorCodeOf(error)
        if (code === 'ENOENT') return
        if (code !== 'ENOTEMPTY' && code !== 'EEXIST') throw error
        // What was moved up is what the next round is for.
        if (level === 1 && top.moved > movedBefore) round = 0
        if (round >= MOST_ROUNDS) throw error
      }
    }
  } finally {
    await below.close()
  }
}

async function removeOrMoveUp(directory: HeldDirectory, name: RawName, top: Top, level: number): Promise<void> {
  if (level === HELD_LEVELS) {
    await rename(directory.entry(name), top.directory.entry(ownName(randomUUID()))).catch(ignoreGone)
    top.moved += 1
    return
  }
  const below = await openSubdirectory(directory, name)
  if (below) await removeDirectory(directory, name, below, top, level + 1)
  else await unlink(directory.entry(name)).catch(ignoreGone)
}

function ignoreGone(error: unknown): undefined {
  if (errorCodeOf(error) !== 'ENOENT') throw error
}

/** Opened for writing, made anew: a name that is there, as whatever, is a failure (EEXIST). */
export function createFile(directory: HeldDirectory, name: string, mode = 0o644) {
  return open(
    directory.entry(name),
    constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY | constants.O_NOFOLLOW,
    mode,
  )
}
