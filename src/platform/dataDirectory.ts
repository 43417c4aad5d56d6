import { mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { errorCodeOf, StartError } from './errors'
import { takeLock, lockOwner } from './processLock'

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
  for (const path of [join(dataDir, 'instances'), join(dataDir, 'replica')])
    await withWriteError(path, () => mkdir(path, { recursive: true, mode: 0o700 }))
  return { wasEmpty, unlock: () => lock.release() }
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
