import { constants, type Stats } from 'node:fs'
import { chown, lchown, open, rename, rm } from 'node:fs/promises'
import { errorCodeOf } from '../errors'
import { DEPTH_LIMIT, tooDeepMessage } from './depth'
import { internalCopyName, isLeftCopy } from './internalNames'
import { namesIn, openRegularFile, openSubdirectory, withDirectory, type OpenDirectory, type RawName } from './jail'
import { copyWithHoles, HOLES_LIMIT, holesOf } from './replicas/sparseFiles'
import { createSkippedEntries, type SkippedEntries } from './skippedEntries'
import { lstatOf } from './directoryEntries'

/** User ids of deployments: below 2^31, above the ids that distributions, systemd and user namespaces assign. */
export const FIRST_USER_ID = 1_900_000_000
const LAST_USER_ID = FIRST_USER_ID + 9_999_999

/** Whether a user id lies in the range of deployments. */
export function isDeploymentUser(uid: number): boolean {
  return uid >= FIRST_USER_ID && uid <= LAST_USER_ID
}

/** Number of entries between two progress reports. */
const PROGRESS_ENTRIES = 20_000

/**
 * Changes the owner of a directory and everything in it, through open descriptors, so that a swapped name cannot lead
 * outside. Changes the owner of links, not of their targets. Skips subdirectories of other deployments' users, because
 * a deployment's directory may lie inside another's. Removes copies (`replaceByCopy`) that an earlier process has left.
 * @param onProgress called with the number of entries visited so far.
 * @param skipped collects directories of other owners that are too deep; they keep their owner.
 * @returns the number of entries whose owner changed.
 * @throws Node.js errors of the file system (EPERM where root may not change owners, as on NFS with root squash)
 */
export async function chownTree(
  directory: OpenDirectory,
  uid: number,
  onProgress: (entries: number) => void,
  skipped: SkippedEntries,
): Promise<number> {
  const { uid: owner, gid: group } = await directory.stats()
  const isChanged = Number(owner) !== uid || Number(group) !== uid
  // `procPath` is a link in /proc that leads to the open directory, so following it is safe.
  if (isChanged) await chown(directory.procPath, uid, uid)
  return (isChanged ? 1 : 0) + (await chownEntries(directory, uid, onProgress, skipped))
}

/** @param former a user whose directories are not skipped: the tree was moved from the directory of that deployment */
async function chownEntries(
  directory: OpenDirectory,
  uid: number,
  onProgress: (entries: number) => void,
  skipped: SkippedEntries,
  former = uid,
): Promise<number> {
  let visited = 0
  let changed = 0

  async function chownContents(parent: OpenDirectory, path: string, level: number): Promise<void> {
    for await (const name of namesIn(parent)) {
      visited += 1
      if (visited % PROGRESS_ENTRIES === 0) onProgress(visited)
      const stats = await lstatOf(parent, name)
      if (!stats) continue
      if (stats.isFile() && isLeftCopy(String(name))) {
        await rm(parent.entryPath(name), { force: true })
        continue
      }
      const isOfOther = stats.uid !== uid && stats.uid !== former && isDeploymentUser(stats.uid)
      if (stats.isDirectory() && isOfOther) continue
      const pathOfEntry = `${path}${String(name)}`
      if (stats.isDirectory() && level > DEPTH_LIMIT) {
        if (stats.uid !== uid) skipped.add(tooDeepMessage(pathOfEntry))
        continue
      }
      if (stats.uid !== uid || stats.gid !== uid) {
        await giveEntry(parent, name, stats, uid)
        changed += 1
      }
      if (!stats.isDirectory()) continue
      const below = await openSubdirectory(parent, name)
      if (below) await withDirectory(below, (opened) => chownContents(opened, `${pathOfEntry}/`, level + 1))
    }
  }

  await chownContents(directory, '', 1)
  return changed
}

/**
 * Changes the owner of an entry, not of what is in it. A file of another deployment with several names is replaced by a
 * copy: the instance of that deployment may have kept a name, by which it could read and change the file, and would
 * become its owner again at its next start.
 */
async function giveEntry(directory: OpenDirectory, name: RawName, stats: Stats, uid: number): Promise<void> {
  const isShared = stats.isFile() && stats.nlink > 1 && stats.uid !== uid && isDeploymentUser(stats.uid)
  if (isShared) await replaceByCopy(directory, name, uid)
  else await lchown(directory.entryPath(name), uid, uid)
}

/**
 * By descriptors, so that a swapped name leads to no other file. A file with too many holes, which would take days,
 * keeps its owner.
 */
async function replaceByCopy(directory: OpenDirectory, name: RawName, uid: number): Promise<void> {
  const opened = await openRegularFile(directory, name)
  if (!opened) return
  const { handle, stats } = opened
  if (holesOf(stats) > HOLES_LIMIT) return handle.close()
  const unfinished = directory.entryPath(internalCopyName())
  try {
    const copy = await open(unfinished, constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY, 0o600)
    try {
      await copyWithHoles(handle, stats.size, copy)
      await copy.chown(uid, uid)
      await copy.chmod(stats.mode & 0o777)
      // As texts: a Date cannot represent every time of a file, and Node.js replaces negative numbers by the present.
      await copy.utimes(String(stats.atimeMs / 1000), String(stats.mtimeMs / 1000))
    } finally {
      await copy.close()
    }
    await rename(unfinished, directory.entryPath(name))
  } finally {
    await rm(unfinished, { force: true })
    await handle.close()
  }
}

/**
 * Gives a new entry in a deployment's directory to the deployment's user, because the instance must be able to change
 * what an operator uploads, extracts or moves there. Does nothing outside such directories, or where the file system
 * forbids a change of owner. Skips directories that are too deep; the next start reports them.
 */
export async function inheritOwner(directory: OpenDirectory, name: RawName): Promise<void> {
  const uid = Number((await directory.stats()).uid)
  if (!isDeploymentUser(uid)) return
  const stats = await lstatOf(directory, name)
  if (!stats) return
  try {
    const below = stats.isDirectory() ? await openSubdirectory(directory, name) : undefined
    if (below)
      await withDirectory(below, (held) => chownEntries(held, uid, () => undefined, createSkippedEntries(), stats.uid))
    // Last: after an interruption, another move still finds the former owner.
    if (stats.uid !== uid) await giveEntry(directory, name, stats, uid)
  } catch (error) {
    if (errorCodeOf(error) !== 'EPERM') throw error
  }
}
