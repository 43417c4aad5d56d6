import { mkdir, readdir, realpath } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { createBoundedRead } from './concurrency/sharedRead'
import { errorCodeOf, StartError } from './errors'
import { takeLock, lockOwner } from './processLock'
import { copiesIn } from './runtime/copies'

/**
 * Creates the data directory if it is missing, and locks it for this platform.
 * @returns whether the directory was empty (this is the first start), and how to unlock it.
 * @throws StartError when another platform holds the lock or the directory cannot be written
 */
export async function openDataDirectory(dataDir: string): Promise<{ wasEmpty: boolean; unlock: () => void }> {
  // PostgreSQL may run as another user and must be able to pass through; nobody else may list the directory.
  await withWriteError(dataDir, () => mkdir(dataDir, { recursive: true, mode: 0o711 }))
  const wasEmpty = (await readdir(dataDir)).length === 0
  const file = join(dataDir, 'platform.lock')
  const lock = await withWriteError(dataDir, async () => takeLock(file))
  if (!lock) {
    const owner = lockOwner(file)
    throw new StartError([
      `Quarterdeck is already running in ${dataDir} (${owner === undefined ? 'in another container or on another machine' : `process ${owner}`})`,
    ])
  }
  for (const path of [copiesIn(dataDir), join(dataDir, 'replica')])
    await withWriteError(path, () => mkdir(path, { recursive: true, mode: 0o700 }))
  return { wasEmpty, unlock: () => lock.release() }
}

/** A shared area over a network answers in milliseconds, or not at all. */
const RESPONSE_TIMEOUT_MS = 2000

/**
 * Requires that an existing data directory is not in the shared area: users read and change everything there, such as
 * the key file, with which they could sign in as anybody.
 * @throws StartError
 */
export async function requireDataOutsideShare(dataDir: string, shareDir: string): Promise<void> {
  // The shared area may be missing, or hang.
  const realShare = await createBoundedRead(() => realpath(shareDir), RESPONSE_TIMEOUT_MS)().catch(() => shareDir)
  const isWithin = (path: string, parent: string) => !/^\.\.(?:\/|$)/.test(relative(parent, path))
  if (isWithin(dataDir, shareDir) || isWithin(await realpath(dataDir), realShare))
    throw new StartError([
      `QUARTERDECK_SHARE_DIR: ${shareDir} must not contain the data directory ${dataDir}, whose keys its users could read: choose another directory for one of them`,
    ])
}

/** @throws StartError that names the directory if `work` cannot create or write it */
export async function withWriteError<Result>(path: string, work: () => Promise<Result>): Promise<Result> {
  return work().catch((error: unknown) => {
    if (error instanceof StartError) throw error
    throw new StartError([
      `The directory ${path} cannot be used (${errorCodeOf(error)}): make it a writable directory or choose another one`,
    ])
  })
}
