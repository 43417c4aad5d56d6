import { mkdir } from 'node:fs/promises'
import { SHARED_ROOT } from '../../contract/pageRules'
import { AppError, errorCodeOf } from '../errors'
import { createJail, withDirectory, type Jail } from './jail'
import type { ShareLocation } from './shareMarker'

/**
 * Returns the real path of a deployment's directory.
 * @param dataDirectory as in a definition: absolute below the shared root, without dot segments.
 * @throws AppError NOT_FOUND when it is missing, CONFLICT when it is a file or a link leads it outside the shared area,
 * UNAVAILABLE while the shared area is not mounted
 */
export async function findDeploymentDirectory(
  { shareDir, marker }: ShareLocation,
  dataDirectory: string,
): Promise<string> {
  return find(createJail(shareDir, marker), dataDirectory)
}

/** As `findDeploymentDirectory`, but creates a missing directory. */
export async function makeDeploymentDirectory(
  { shareDir, marker }: ShareLocation,
  dataDirectory: string,
): Promise<string> {
  const jail = createJail(shareDir, marker)
  const segments = segmentsOf(dataDirectory)
  for (let depth = 1; depth <= segments.length; depth += 1) {
    await withDirectory(jail.openDirectory(segments.slice(0, depth - 1)), (parent) =>
      mkdir(parent.entryPath(segments[depth - 1] ?? ''), { mode: 0o755 }),
    ).catch((error: unknown) => {
      if (errorCodeOf(error) !== 'EEXIST') throw toDefinitionError(error, dataDirectory)
    })
  }
  return find(jail, dataDirectory)
}

const segmentsOf = (dataDirectory: string) => dataDirectory.split('/').filter(Boolean)

async function find(jail: Jail, dataDirectory: string): Promise<string> {
  const { realPath, root } = await withDirectory(
    jail.openDirectory(segmentsOf(dataDirectory)),
    async (directory) => directory,
  ).catch((error: unknown) => {
    throw toDefinitionError(error, dataDirectory)
  })
  if (realPath === root) throw outsideShare(dataDirectory)
  return realPath
}

/** Turns failures of the jail into faults of the definition that names the directory. */
function toDefinitionError(error: unknown, dataDirectory: string): unknown {
  if (!(error instanceof AppError)) return error
  if (error.code === 'NOT_ALLOWED') return outsideShare(dataDirectory)
  return error.code === 'CONFLICT'
    ? new AppError('CONFLICT', `In the place of the directory ${SHARED_ROOT}${dataDirectory} there is a file.`)
    : error
}

function outsideShare(dataDirectory: string): AppError {
  return new AppError('CONFLICT', `The directory ${SHARED_ROOT}${dataDirectory} leads out of the shared area.`)
}
