import type { Definition } from '../../contract/deployment'
import { AppError } from '../errors'
import type { InstanceSpec } from '../runtime/runtime'
import { SHARED_ROOT } from '../../contract/pageRules'
import { findDeploymentDirectory, makeDeploymentDirectory } from '../share/deploymentDirectory'
import type { ShareLocation } from '../share/shareMarker'
import type { Db } from '../state/db'
import { setDirectorySeen, type DeploymentRow } from '../state/deployments'

/**
 * Returns the real path of a stored deployment's directory. Creates it only if it was never seen before: a directory
 * that existed and is missing is on an unmounted share, where a world must not begin anew (decisions §13).
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
 * Resolves the directories of a definition's `mounts`. Instances find them at the path that the console shows.
 * @throws AppError CONFLICT when one is missing, UNAVAILABLE while the shared area is not mounted, or as
 * `findDeploymentDirectory`
 */
export async function resolveMounts(
  parts: ShareLocation,
  { mounts = [] }: Definition,
): Promise<NonNullable<InstanceSpec['mounts']>> {
  return Promise.all(
    mounts.map(async (path) => {
      const target = SHARED_ROOT + path
      const source = await findDeploymentDirectory(parts, path).catch((error: unknown) => {
        throw error instanceof AppError && error.code === 'NOT_FOUND'
          ? new AppError('CONFLICT', `The directory ${target} in "mounts" does not exist.`)
          : error
      })
      return { source, target }
    }),
  )
}
