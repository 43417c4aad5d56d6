import type { Stats } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { openRegularFile, type HeldDirectory } from './jail'
import { lstatOf } from './placing'

/** What of a mode stays. As the kernel does it (write(2)): what runs as its owner (setuid) was not written by that one any more. */
export const RIGHTS = 0o1777

/** Gives a new file the owner and the mode of the one that it is to take the place of. @throws Node.js errors of the file system */
export async function takeRights(made: FileHandle, { uid, gid, mode }: Stats): Promise<void> {
  // Only root may give files away; anybody else owns what they save. The owner first: it takes special modes away.
  await made.chown(uid, gid).catch(() => undefined)
  await made.chmod(mode & RIGHTS)
}

/**
 * As `takeRights`, by names: a script that is replaced can still be run, and what was not for everybody still is not. Where there is
 * no file to replace, or it has these rights already, nothing is done. @throws Node.js errors of the file system
 */
export async function takeRightsOf(
  replaced: [directory: HeldDirectory, name: string],
  made: [directory: HeldDirectory, name: string],
): Promise<void> {
  const before = await lstatOf(...replaced)
  if (!before?.isFile()) return
  const opened = await openRegularFile(...made)
  if (!opened) return
  try {
    const { uid, gid, mode } = opened.stats
    if (uid !== before.uid || gid !== before.gid || (mode & RIGHTS) !== (before.mode & RIGHTS))
      await takeRights(opened.handle, before)
  } finally {
    await opened.handle.close()
  }
}
