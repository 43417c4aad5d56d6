import { mkdir, opendir, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { SHARED_ROOT } from '../../contract/pageRules'
import { AppError, errorCodeOf } from '../errors'
import { parsePath } from './apiPath'
import { mountIdOf } from './disks'
import { fileFailure } from './fileFailure'
import { createJail, withDirectory, type Jail } from './jail'
import type { ShareLocation } from './shareMarker'
import type { Passage } from './followLinks'

/**
 * Returns the real path of a deployment's directory.
 * @param dataDirectory as in a definition: absolute below the shared root, without dot segments.
 * @throws AppError NOT_FOUND when it is missing, CONFLICT when it is a file or a link leads outside the shared area,
 * INVALID_INPUT when a link in a deployment's directory leads out of that directory, UNAVAILABLE while the shared area
 * is not mounted
 */
export async function findDeploymentDirectory(location: ShareLocation, dataDirectory: string): Promise<string> {
  const { shareDir, marker, dataDirectories } = location
  const { realPath, root } = await find(createJail(shareDir, marker), dataDirectory)
  if (realPath === `${root}${dataDirectory}` || !dataDirectories) return realPath
  // The path contains a link. An instance can create one in its deployment's directory that leads to files of other
  // deployments.
  const known = await Promise.all(
    (await dataDirectories()).map((path) => realpath(join(shareDir, path)).catch(() => undefined)),
  )
  const passage = () => withinOwner(known, dataDirectory)
  return (await find(createJail(shareDir, marker, passage), dataDirectory)).realPath
}

/**
 * As `findDeploymentDirectory`, but creates a missing directory.
 * @throws AppError INVALID_INPUT also for a path that no call for files accepts
 */
export async function makeDeploymentDirectory(location: ShareLocation, dataDirectory: string): Promise<string> {
  const jail = createJail(location.shareDir, location.marker)
  const segments = parsePath(`${SHARED_ROOT}${dataDirectory}`, 'dataDirectory')
  for (let depth = 1; depth <= segments.length; depth += 1) {
    await withDirectory(jail.openDirectory(segments.slice(0, depth - 1)), (parent) =>
      mkdir(parent.entryPath(segments[depth - 1] ?? ''), { mode: 0o755 }),
    ).catch((error: unknown) => {
      if (errorCodeOf(error) !== 'EEXIST') throw toDefinitionError(error, dataDirectory)
    })
  }
  return findDeploymentDirectory(location, dataDirectory)
}

/**
 * The state of a directory's mount: `mounted` if it is on another mount than the shared area; `lost` if it was, and is
 * now an empty directory, as an unmount leaves it. Only a directory that was mounted is read.
 * @param path of the directory. @param root of the shared area
 * @throws Node.js errors of the file system
 */
export async function mountStateOf(
  path: string,
  root: string,
  wasMounted: boolean,
): Promise<'mounted' | 'lost' | 'none'> {
  const [own, share] = await Promise.all([mountIdOf(path), mountIdOf(root)])
  if (own !== share) return 'mounted'
  return wasMounted && (await isEmpty(path)) ? 'lost' : 'none'
}

async function isEmpty(path: string): Promise<boolean> {
  const entries = await opendir(path)
  try {
    return (await entries.read()) === null
  } finally {
    await entries.close()
  }
}

/**
 * The error for a directory that was a mount of its own and is empty now.
 * @param directory as users know it. @param purpose for which the directory is needed, and may be used as it is
 */
export function mountLost(directory: string, purpose: string): AppError {
  return new AppError(
    'CONFLICT',
    `The directory ${directory} was a mount of its own and is now an empty directory. Mount it again, or, to ${purpose}, create a file in it.`,
  )
}

/** Once a path has entered a deployment's directory, restricts it to that directory. @param known their real paths */
function withinOwner(known: (string | undefined)[], dataDirectory: string): Passage {
  let owner: string | undefined
  return {
    through(directory) {
      if (owner !== undefined && !`${directory}/`.startsWith(`${owner}/`))
        throw new AppError(
          'INVALID_INPUT',
          `A link in ${SHARED_ROOT}${dataDirectory} leads out of the directory of its deployment. Replace it by a directory.`,
        )
      owner ??= known.find((candidate) => candidate !== undefined && `${directory}/`.startsWith(`${candidate}/`))
    },
  }
}

const segmentsOf = (dataDirectory: string) => dataDirectory.split('/').filter(Boolean)

async function find(jail: Jail, dataDirectory: string): Promise<{ realPath: string; root: string }> {
  const { realPath, root } = await withDirectory(
    jail.openDirectory(segmentsOf(dataDirectory)),
    async (directory) => directory,
  ).catch((error: unknown) => {
    throw toDefinitionError(error, dataDirectory)
  })
  if (realPath === root) throw outsideShare(dataDirectory)
  return { realPath, root }
}

/** Converts failures to errors about the definition that names the directory. */
function toDefinitionError(error: unknown, dataDirectory: string): unknown {
  if (!(error instanceof AppError)) return fileFailure(error, `${SHARED_ROOT}${dataDirectory}`)
  if (error.code === 'NOT_ALLOWED') return outsideShare(dataDirectory)
  return error.code === 'CONFLICT'
    ? new AppError('CONFLICT', `${SHARED_ROOT}${dataDirectory} is a file. The deployment needs a directory there.`)
    : error
}

function outsideShare(dataDirectory: string): AppError {
  return new AppError('CONFLICT', `The directory ${SHARED_ROOT}${dataDirectory} leads out of the shared area.`)
}
