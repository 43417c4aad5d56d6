import { mkdir } from 'node:fs/promises'
import { AppError, errorCodeOf } from '../errors'
import { createJail, holding, type Jail } from './jail'
import type { ShareParts } from './shareMarker'

/** How the wire writes the root of the shared area (decisions §3). */
export const SHARED_ROOT = '/nfsshare'

/**
 * The real directory of a deployment.
 * @param dataDirectory as a definition says it: absolute below the shared root, without dot segments.
 * @throws AppError NOT_FOUND when it is missing, CONFLICT when a link leads it out of the shared area or a file is in its place,
 *   UNAVAILABLE while the shared area is not mounted
 */
export async function deploymentDirectory({ shareDir, marker }: ShareParts, dataDirectory: string): Promise<string> {
  return find(createJail(shareDir, marker), dataDirectory)
}

/** As `deploymentDirectory`, and makes it when it is missing. */
export async function makeDeploymentDirectory(
  { shareDir, marker }: ShareParts,
  dataDirectory: string,
): Promise<string> {
  const jail = createJail(shareDir, marker)
  const names = namesIn(dataDirectory)
  for (let depth = 1; depth <= names.length; depth += 1) {
    await holding(jail.directory(names.slice(0, depth - 1)), (above) =>
      mkdir(above.entry(names[depth - 1] ?? ''), { mode: 0o755 }),
    ).catch((error: unknown) => {
      if (errorCodeOf(error) !== 'EEXIST') throw conflict(error, dataDirectory)
    })
  }
  return find(jail, dataDirectory)
}

const namesIn = (dataDirectory: string) => dataDirectory.split('/').filter(Boolean)

async function find(jail: Jail, dataDirectory: string): Promise<string> {
  const { realPath, root } = await holding(
    jail.directory(namesIn(dataDirectory)),
    async (directory) => directory,
  ).catch((error: unknown) => {
    throw conflict(error, dataDirectory)
  })
  if (realPath === root) throw leadsOut(dataDirectory)
  return realPath
}

/** What the jail found, as a fault of the definition that names the directory. */
function conflict(error: unknown, dataDirectory: string): unknown {
  if (!(error instanceof AppError)) return error
  if (error.code === 'NOT_ALLOWED') return leadsOut(dataDirectory)
  return error.code === 'CONFLICT'
    ? new AppError('CONFLICT', `In the place of the directory ${SHARED_ROOT}${dataDirectory} there is a file.`)
    : error
}

function leadsOut(dataDirectory: string): AppError {
  return new AppError('CONFLICT', `The directory ${SHARED_ROOT}${dataDirectory} leads out of the shared area.`)
}
