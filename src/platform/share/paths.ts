import { mkdir, realpath } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'
import { AppError, errorCodeOf } from '../errors'

/** How the wire writes the root of the shared area (decisions §3). */
export const SHARED_ROOT = '/nfsshare'

/**
 * The real directory of a deployment, made when it is missing.
 * @param dataDirectory as a definition says it: absolute below the shared root, without dot segments.
 * @throws AppError CONFLICT when a symbolic link leads it out of the shared area, or a file is in its place.
 */
export async function deploymentDirectory(shareDir: string, dataDirectory: string): Promise<string> {
  const root = await realpath(shareDir)
  const wanted = join(root, dataDirectory)
  // Before anything is made: what is there already decides where the rest would come to be.
  checkInside(root, await deepestExisting(wanted), dataDirectory)
  await mkdir(wanted, { recursive: true, mode: 0o755 }).catch((error: unknown) => {
    if (!['EEXIST', 'ENOTDIR'].includes(errorCodeOf(error) ?? '')) throw error
    throw new AppError('CONFLICT', `In the place of the directory ${SHARED_ROOT}${dataDirectory} there is a file.`)
  })
  const real = await realpath(wanted)
  if (real === root) throw leadsOut(dataDirectory)
  checkInside(root, real, dataDirectory)
  return real
}

async function deepestExisting(path: string): Promise<string> {
  for (let at = path; ; at = dirname(at)) {
    const real = await realpath(at).catch(() => undefined)
    if (real !== undefined) return real
  }
}

function checkInside(root: string, real: string, dataDirectory: string): void {
  const path = relative(root, real)
  if (path === '..' || path.startsWith(`..${sep}`)) throw leadsOut(dataDirectory)
}

function leadsOut(dataDirectory: string): AppError {
  return new AppError('CONFLICT', `The directory ${SHARED_ROOT}${dataDirectory} leads out of the shared area.`)
}
