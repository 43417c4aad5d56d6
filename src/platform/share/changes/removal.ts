import { randomUUID } from 'node:crypto'
import { realpath, rename, rmdir, unlink } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { errorCodeOf } from '../../errors'
import { withDirectory, namesIn, openRealDirectory, openSubdirectory, type OpenDirectory, type RawName } from '../jail'
import { internalName } from '../internalNames'

/** Levels of a tree that are open at the same time. Deeper directories are first moved up to the top of the tree. */
const MAX_OPEN_LEVELS = 32
/** Attempts to empty a directory that do not find fewer entries: other processes may create them. */
const MAX_ROUNDS = 4

/**
 * Removes an entry recursively, at any depth, with a bounded number of descriptors. Every step is relative to an open
 * directory and follows no link. A missing entry is not an error.
 * @throws the signal's reason; Node.js errors of the file system. Then some entries may remain, and deep ones at the
 * top under an internal name.
 */
export async function removeTree(directory: OpenDirectory, name: RawName, signal?: AbortSignal): Promise<void> {
  const top = await openSubdirectory(directory, name)
  if (top) await removeDirectory(directory, name, top, { directory: top, moved: 0, signal }, 1)
  else await unlink(directory.entryPath(name)).catch(ignoreMissing)
}

/** As `removeTree`, for an absolute path in the platform's own directories. */
export async function removePath(path: string, signal?: AbortSignal): Promise<void> {
  const parent = await realpath(dirname(path)).then(openRealDirectory).catch(ignoreMissing)
  if (parent) await withDirectory(parent, (directory) => removeTree(directory, basename(path), signal))
}

interface Top {
  directory: OpenDirectory
  /** Number of directories that were moved up to it so far. */
  moved: number
  signal: AbortSignal | undefined
}

/** @param below the open directory of that name; closed at the end. */
async function removeDirectory(
  directory: OpenDirectory,
  name: RawName,
  below: OpenDirectory,
  top: Top,
  level: number,
): Promise<void> {
  try {
    let foundBefore = 0
    for (let round = 1; ; round += 1) {
      const movedBefore = top.moved
      let found = 0
      for await (const entry of namesIn(below)) {
        top.signal?.throwIfAborted()
        found += 1
        try {
          await unlink(below.entryPath(entry))
        } catch (error) {
          // unlink(2) of a directory fails with EISDIR on Linux, with EPERM on other systems.
          if (['EISDIR', 'EPERM'].includes(errorCodeOf(error) ?? '')) await removeOrMoveUp(below, entry, top, level)
          else ignoreMissing(error)
        }
      }
      try {
        await rmdir(directory.entryPath(name))
        return
      } catch (error) {
        const code = errorCodeOf(error)
        if (code === 'ENOENT') return
        if (code !== 'ENOTEMPTY' && code !== 'EEXIST') throw error
        // The next round removes the directories that were moved up.
        if (level === 1 && top.moved > movedBefore) round = 0
        // Some network file systems skip entries while others are removed.
        if (found < foundBefore) round -= 1
        foundBefore = found
        if (round >= MAX_ROUNDS) throw error
      }
    }
  } finally {
    await below.close()
  }
}

async function removeOrMoveUp(directory: OpenDirectory, name: RawName, top: Top, level: number): Promise<void> {
  if (level === MAX_OPEN_LEVELS) {
    await rename(directory.entryPath(name), top.directory.entryPath(internalName(randomUUID()))).catch(ignoreMissing)
    top.moved += 1
    return
  }
  const below = await openSubdirectory(directory, name)
  if (below) await removeDirectory(directory, name, below, top, level + 1)
  else await unlink(directory.entryPath(name)).catch(ignoreMissing)
}

function ignoreMissing(error: unknown): undefined {
  if (errorCodeOf(error) !== 'ENOENT') throw error
}
