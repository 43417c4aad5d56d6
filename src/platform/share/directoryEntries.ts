import { constants, type Stats } from 'node:fs'
import { lstat, open } from 'node:fs/promises'
import { errorCodeOf } from '../errors'
import type { OpenDirectory, RawName } from './jail'

/** Stats of the entry itself, without following links; undefined when it does not exist. */
export async function lstatOf(directory: OpenDirectory, name: RawName): Promise<Stats | undefined> {
  return lstat(directory.entryPath(name)).catch((error: unknown) => {
    if (errorCodeOf(error) === 'ENOENT') return undefined
    throw error
  })
}

/** Creates a file for writing; fails with EEXIST if the name exists in any form. */
export function createFile(directory: OpenDirectory, name: string, mode = 0o644) {
  return open(
    directory.entryPath(name),
    constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY | constants.O_NOFOLLOW,
    mode,
  )
}

/** Flushes renames within a directory to disk, so that they survive a power failure. */
export async function syncDirectory({ procPath }: OpenDirectory): Promise<void> {
  const handle = await open(procPath, constants.O_RDONLY | constants.O_DIRECTORY)
  try {
    await handle.sync()
  } catch (error) {
    // Some network file systems do not support fsync of directories; they flush on their own.
    if (!['EINVAL', 'ENOTSUP', 'EOPNOTSUPP'].includes(errorCodeOf(error) ?? '')) throw error
  } finally {
    await handle.close()
  }
}
