import { chown, lchown } from 'node:fs/promises'
import { errorCodeOf } from '../errors'
import { DEPTH_LIMIT, tooDeep } from './depth'
import { holding, namesIn, openSubdirectory, type HeldDirectory, type RawName } from './jail'
import { createLeftOut, type LeftOut } from './leftOut'
import { lstatOf } from './placing'

/** The user ids of deployments: below 2^31, and above what distributions, systemd and user namespaces hand out by themselves. */
export const FIRST_USER_ID = 1_900_000_000
const LAST_USER_ID = FIRST_USER_ID + 9_999_999

/** Whether a user id is one that was given to a deployment. */
export function isDeploymentUser(uid: number): boolean {
  return uid >= FIRST_USER_ID && uid <= LAST_USER_ID
}

/** A tree with more entries than this tells of its progress. */
const PROGRESS_ENTRIES = 20_000

/**
 * Gives a directory and all that is in it to a user, through held descriptors: no name that is swapped meanwhile leads out of
 * it. Links are given, not followed. A subdirectory that belongs to another deployment's user stays as it is: a deployment's
 * directory may lie within another one's.
 * @param onProgress is told how many entries were looked at.
 * @param leftOut is told of directories of others that lie too deep: they stay as they are, with all they hold.
 * @returns how many entries changed hands.
 * @throws Node.js errors of the file system (EPERM where root may not give files away, as on NFS with root squash)
 */
export async function giveTree(
  directory: HeldDirectory,
  uid: number,
  onProgress: (entries: number) => void,
  leftOut: LeftOut,
): Promise<number> {
  const { uid: owner, gid: group } = await directory.stats()
  const isGiven = Number(owner) !== uid || Number(group) !== uid
  // Follows the link of /proc to the directory that is held, and no other.
  if (isGiven) await chown(directory.self, uid, uid)
  return (isGiven ? 1 : 0) + (await giveEntries(directory, uid, onProgress, leftOut))
}

async function giveEntries(
  directory: HeldDirectory,
  uid: number,
  onProgress: (entries: number) => void,
  leftOut: LeftOut,
): Promise<number> {
  let seen = 0
  let given = 0

  async function give(held: HeldDirectory, path: string, level: number): Promise<void> {
    for (const name of await namesIn(held)) {
      seen += 1
      if (seen % PROGRESS_ENTRIES === 0) onProgress(seen)
      const stats = await lstatOf(held, name)
      if (!stats || (stats.isDirectory() && stats.uid !== uid && isDeploymentUser(stats.uid))) continue
      const pathOfEntry = `${path}${String(name)}`
      if (stats.isDirectory() && level > DEPTH_LIMIT) {
        if (stats.uid !== uid) leftOut.add(tooDeep(pathOfEntry))
        continue
      }
      if (stats.uid !== uid || stats.gid !== uid) {
        await lchown(held.entry(name), uid, uid)
        given += 1
      }
      if (!stats.isDirectory()) continue
      const below = await openSubdirectory(held, name)
      if (below) await holding(Promise.resolve(below), (opened) => give(opened, `${pathOfEntry}/`, level + 1))
    }
  }

  await give(directory, '', 1)
  return given
}

/**
 * Gives what was just placed in a directory of a deployment to the deployment's user: the instance has to be able to change what
 * an operator uploads, extracts or moves there. Elsewhere nothing changes, nor where files cannot be given away. Directories that lie too
 * deep stay as they are: the next start tells of them.
 */
export async function inheritOwner(directory: HeldDirectory, name: RawName): Promise<void> {
  const uid = Number((await directory.stats()).uid)
  if (!isDeploymentUser(uid)) return
  const stats = await lstatOf(directory, name)
  if (!stats) return
  try {
    if (stats.uid !== uid) await lchown(directory.entry(name), uid, uid)
    const below = stats.isDirectory() ? await openSubdirectory(directory, name) : undefined
    if (below) await holding(Promise.resolve(below), (held) => giveEntries(held, uid, () => undefined, createLeftOut()))
  } catch (error) {
    if (errorCodeOf(error) !== 'EPERM') throw error
  }
}
