import type { Definition } from '../../contract/deployment'
import { AppError } from '../errors'
import { SHARED_ROOT } from '../../contract/pageRules'
import { findDeploymentDirectory, makeDeploymentDirectory } from '../share/deploymentDirectory'
import type { ShareLocation } from '../share/shareMarker'
import type { Db } from '../state/db'
import { setDirectorySeen, type DeploymentRow } from '../state/deployments/deployments'

/**
 * Returns the real path of a stored deployment's directory. Creates it only if it was never seen before: a directory
 * that existed and is missing may be on an unmounted share, where a world must not start from nothing (decisions §13).
 * @throws AppError CONFLICT when it is missing, UNAVAILABLE while the shared area is not mounted, or as
 * `findDeploymentDirectory`
 */
export async function requireDeploymentDirectory(
  parts: ShareLocation & { db: Db },
  { name, directory_seen }: Pick<DeploymentRow, 'name' | 'directory_seen'>,
  dataDirectory: string,
): Promise<string> {
  if (directory_seen !== dataDirectory) {
    const created = await makeDeploymentDirectory(parts, dataDirectory)
    await setDirectorySeen(parts.db, name, dataDirectory)
    return created
  }
  return findDeploymentDirectory(parts, dataDirectory).catch((error: unknown) => {
    if (!(error instanceof AppError && error.code === 'NOT_FOUND')) throw error
    throw new AppError(
      'CONFLICT',
      `The directory ${SHARED_ROOT}${dataDirectory} no longer exists. Mount or restore it, or create an empty one on the Files page.`,
    )
  })
}

/**
 * Checks that the directories of a definition's `mounts` are there.
 * @throws AppError CONFLICT when one is missing, UNAVAILABLE while the shared area is not mounted, or as
 * `findDeploymentDirectory`
 */
export async function requireMounts(parts: ShareLocation, { mounts = [] }: Definition): Promise<void> {
  for (const path of mounts) {
    await findDeploymentDirectory(parts, path).catch((error: unknown) => {
      throw error instanceof AppError && error.code === 'NOT_FOUND'
        ? new AppError('CONFLICT', `The directory ${SHARED_ROOT}${path} in "mounts" does not exist.`)
        : error
    })
  }
}
