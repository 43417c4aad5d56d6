import type { Definition } from '../../contract/deployment'
import { AppError } from '../errors'
import { SHARED_ROOT } from '../../contract/pageRules'
import { findDeploymentDirectory, makeDeploymentDirectory, mountLost, mountStateOf } from '../share/deploymentDirectory'
import { lstatOf } from '../share/directoryEntries'
import { fileFailure } from '../share/fileFailure'
import { createJail, openSubdirectory, withDirectory, type OpenDirectory } from '../share/jail'
import type { ShareLocation } from '../share/shareMarker'
import type { Db } from '../state/db'
import { setDirectorySeen, setMountsMounted, type DeploymentRow } from '../state/deployments/deployments'

/**
 * Returns the real path of a stored deployment's directory. Creates it only if it was never seen before: a directory
 * that existed and is missing may be on an unmounted share, where a world must not start from nothing (decisions §13).
 * So may an empty one, if it was a mount of its own before.
 * @throws AppError CONFLICT when it is missing or no longer mounted, UNAVAILABLE while the shared area is not mounted,
 * or as `findDeploymentDirectory`
 */
export async function requireDeploymentDirectory(
  parts: ShareLocation & { db: Db },
  { name, directory_seen, directory_mounted }: Pick<DeploymentRow, 'name' | 'directory_seen' | 'directory_mounted'>,
  dataDirectory: string,
): Promise<string> {
  const seen = directory_seen === dataDirectory
  const directory = await (seen
    ? findDeploymentDirectory(parts, dataDirectory).catch((error: unknown) => {
        if (!(error instanceof AppError && error.code === 'NOT_FOUND')) throw error
        throw new AppError(
          'CONFLICT',
          `The directory ${SHARED_ROOT}${dataDirectory} no longer exists. Mount or restore it, or create an empty one on the Files page.`,
        )
      })
    : makeDeploymentDirectory(parts, dataDirectory))
  const state = await findMountState(parts, directory, dataDirectory, seen && directory_mounted)
  const mounted = state === 'mounted'
  if (seen && mounted === directory_mounted) return directory
  if (state === 'lost') throw directoryLost(dataDirectory)
  await setDirectorySeen(parts.db, name, dataDirectory, mounted)
  return directory
}

const WITHOUT_FILES = 'start without its files'
const directoryLost = (path: string) => mountLost(`${SHARED_ROOT}${path}`, WITHOUT_FILES)
const mountsEntryLost = (path: string) => mountLost(`${SHARED_ROOT}${path} in "mounts"`, WITHOUT_FILES)

/** @param path as in a definition. @throws as `fileFailure` */
async function findMountState(
  { shareDir }: ShareLocation,
  directory: string,
  path: string,
  wasMounted: boolean,
): ReturnType<typeof mountStateOf> {
  return mountStateOf(directory, shareDir, wasMounted).catch((error: unknown) => {
    throw fileFailure(error, `${SHARED_ROOT}${path}`)
  })
}

/**
 * Checks that the directories of a definition's `mounts` are there, and that none is the empty directory below a mount
 * that is gone.
 * @throws AppError CONFLICT when one is missing or no longer mounted, UNAVAILABLE while the shared area is not mounted,
 * or as `findDeploymentDirectory`
 */
export async function requireMounts(
  parts: ShareLocation & { db: Db },
  { name, mounts_mounted }: Pick<DeploymentRow, 'name' | 'mounts_mounted'>,
  { mounts = [] }: Definition,
): Promise<void> {
  const mounted: string[] = []
  for (const path of mounts) {
    const directory = await findDeploymentDirectory(parts, path).catch((error: unknown) => {
      throw error instanceof AppError && error.code === 'NOT_FOUND'
        ? new AppError('CONFLICT', `The directory ${SHARED_ROOT}${path} in "mounts" does not exist.`)
        : error
    })
    const state = await findMountState(parts, directory, path, mounts_mounted.includes(path))
    if (state === 'mounted') mounted.push(path)
    else if (state === 'lost') throw mountsEntryLost(path)
  }
  if (mounted.join() !== mounts_mounted.join()) await setMountsMounted(parts.db, name, mounted)
}

/**
 * Whether an instance is blocked because a directory was not mounted, and that is mounted again. Files in the empty
 * directory below the mount do not count: a restore may be under way.
 */
export async function isMountedAgain(
  location: ShareLocation,
  { dataDirectory, mounts = [] }: Definition,
  blockedReason: string | null,
): Promise<boolean> {
  const path =
    directoryLost(dataDirectory).message === blockedReason
      ? dataDirectory
      : mounts.find((mount) => mountsEntryLost(mount).message === blockedReason)
  if (path === undefined) return false
  try {
    return (await findMountState(location, await findDeploymentDirectory(location, path), path, false)) === 'mounted'
  } catch (error) {
    if (error instanceof AppError) return false
    throw error
  }
}

/**
 * Checks that directories of `keep` are no links, as far as their names have no wildcards. Otherwise its files could
 * never be written back, or, if the copy has the link as well, would be lost without a word.
 * @throws AppError CONFLICT when one is a link to a directory, UNAVAILABLE while the shared area is not mounted
 */
export async function requireKeptDirectories(location: ShareLocation, definition: Definition): Promise<void> {
  const { dataDirectory, keep = [] } = definition
  for (const path of keep) {
    const link = await findLinkedDirectory(location, dataDirectory, path).catch((error: unknown) => {
      const failure = fileFailure(error, `${SHARED_ROOT}${dataDirectory}/${path}`)
      if (failure instanceof AppError && failure.code !== 'UNAVAILABLE') return undefined
      throw failure
    })
    if (link !== undefined)
      throw new AppError(
        'CONFLICT',
        `"${link}" in "keep" is a link to a directory, and files are not written back through links. Replace it by a directory, or name the one that it leads to.`,
      )
  }
}

/** The first part of a kept path that is a link to a directory. Links that lead out of the shared area do not count. */
async function findLinkedDirectory(
  { shareDir, marker }: ShareLocation,
  dataDirectory: string,
  path: string,
): Promise<string | undefined> {
  const jail = createJail(shareDir, marker)
  const base = dataDirectory.split('/').filter(Boolean)
  let directory: OpenDirectory | undefined = await jail.openDirectory(base)
  const passed: string[] = []
  for (const name of path.split('/')) {
    if (name.includes('*') || !directory) break
    passed.push(name)
    const next: OpenDirectory | 'link' | undefined = await withDirectory(directory, async (parent) =>
      (await lstatOf(parent, name))?.isSymbolicLink() ? 'link' : openSubdirectory(parent, name),
    )
    if (next === 'link') return withDirectory(jail.openDirectory([...base, ...passed]), async () => passed.join('/'))
    directory = next
  }
  await directory?.close()
  return undefined
}
