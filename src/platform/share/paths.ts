import { mkdir, realpath } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { AppError } from '../errors'

/** How the wire writes the root of the shared area (decisions §3). */
export const SHARED_ROOT = '/nfsshare'

/**
 * The real directory of a deployment, made when it is missing.
 * @param dataDirectory as a definition says it: absolute below the shared root, without dot segments.
 * @throws AppError CONFLICT when a symbolic link leads it out of the shared area.
 */
export async function deploymentDirectory(shareDir: string, dataDirectory: string): Promise<string> {
  const root = await realpath(shareDir)
  const wanted = join(root, dataDirectory)
  await mkdir(wanted, { recursive: true })
  const real = await realpath(wanted)
  const path = relative(root, real)
  if (path === '' || path === '..' || path.startsWith(`..${sep}`)) {
    throw new AppError('CONFLICT', `The directory ${SHARED_ROOT}${dataDirectory} leads out of the shared area.`)
  }
  return real
}
