import type { Definition } from '../../contract/deployment'
import { AppError } from '../errors'
import type { InstanceSpec } from '../runtime/runtime'
import { deploymentDirectory, makeDeploymentDirectory, SHARED_ROOT } from '../share/paths'
import type { ShareParts } from '../share/shareMarker'
import type { Db } from '../state/db'
import { setDirectorySeen, type DeploymentRow } from '../state/deployments'

/**
 * The real directory of a stored deployment. It is made only where nobody has seen it yet: one that was there and is not is on a
 * share that is not mounted, and a world must not begin anew there (decisions §13).
 * @throws AppError CONFLICT when it is gone, or as `deploymentDirectory`; UNAVAILABLE while the shared area is not mounted
 */
export async function directoryOf(
  parts: ShareParts & { db: Db },
  { name, directory_seen }: Pick<DeploymentRow, 'name' | 'directory_seen'>,
  dataDirectory: string,
): Promise<string> {
  if (directory_seen !== dataDirectory) {
    const made = await makeDeploymentDirectory(parts, dataDirectory)
    await setDirectorySeen(parts.db, name, dataDirectory)
    return made
  }
  return deploymentDirectory(parts, dataDirectory).catch((error: unknown) => {
    if (!(error instanceof AppError && error.code === 'NOT_FOUND')) throw error
    throw new AppError(
      'CONFLICT',
      `The directory ${SHARED_ROOT}${dataDirectory} was there and is gone. Mount or restore it, or make an empty one on the file page.`,
    )
  })
}

/**
 * The directories that a definition mounts, which are found below the shared root at the path that the console shows them at.
 * @throws AppError CONFLICT when one is missing, or as `deploymentDirectory`; UNAVAILABLE while the shared area is not mounted
 */
export async function mountsOf(
  parts: ShareParts,
  { mounts = [] }: Definition,
): Promise<NonNullable<InstanceSpec['mounts']>> {
  return Promise.all(
    mounts.map(async (path) => {
      const target = SHARED_ROOT + path
      const source = await deploymentDirectory(parts, path).catch((error: unknown) => {
        throw error instanceof AppError && error.code === 'NOT_FOUND'
          ? new AppError('CONFLICT', `The directory ${target}, which "mounts" names, is missing.`)
          : error
      })
      return { source, target }
    }),
  )
}
