import type { Stats } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { openRegularFile, type OpenDirectory } from './jail'
import { lstatOf } from './directoryEntries'

/**
 * Clears setuid and setgid, as write(2) does: the content may no longer be the owner's, and who extracts an archive as
 * root becomes the owner of its files.
 */
export const PERMISSION_BITS = 0o1777

/** Gives a new file the owner and mode of the file it will replace. @throws Node.js errors of the file system */
export async function copyOwnerAndMode(target: FileHandle, { uid, gid, mode }: Stats): Promise<void> {
  // Only root may change owners; other users own what they save. Owner first, because chown clears special mode bits.
  await target.chown(uid, gid).catch(() => undefined)
  await target.chmod(mode & PERMISSION_BITS)
}

/**
 * As `copyOwnerAndMode`, by names: a replaced script stays executable, and a private file stays private. Does nothing
 * when there is no file to replace or the rights are equal.
 * @throws Node.js errors of the file system
 */
export async function copyOwnerAndModeByName(
  replaced: [directory: OpenDirectory, name: string],
  target: [directory: OpenDirectory, name: string],
): Promise<void> {
  const before = await lstatOf(...replaced)
  if (!before?.isFile()) return
  const opened = await openRegularFile(...target)
  if (!opened) return
  try {
    const { uid, gid, mode } = opened.stats
    if (uid !== before.uid || gid !== before.gid || (mode & PERMISSION_BITS) !== (before.mode & PERMISSION_BITS))
      await copyOwnerAndMode(opened.handle, before)
  } finally {
    await opened.handle.close()
  }
}
