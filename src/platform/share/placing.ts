import { constants, type Stats } from 'node:fs'
import { link, lstat, open, rename, unlink } from 'node:fs/promises'
import { numberedName } from '../../contract/numberedName'
import { AppError, errorCodeOf } from '../errors'
import type { HeldDirectory, RawName } from './jail'
import { printable } from './wirePath'

/** Of file systems that have no hard links, or not between these two places. */
const NO_LINKS = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EXDEV', 'EACCES']

/**
 * Gives an entry a new place and never takes the place of anything: of two at once exactly one gets a name. A crash in
 * between can leave a file under both names, never under none.
 * @throws AppError NAME_TAKEN, and Node.js errors of the file system; ENOENT also when another took the entry away meanwhile.
 */
export async function placeNew(from: HeldDirectory, name: string, to: HeldDirectory, newName: string): Promise<void> {
  const taken = () => new AppError('NAME_TAKEN', `"${printable(newName)}" exists already.`)
  const stats = await lstat(from.entry(name))
  if (stats.isDirectory()) {
    // At worst this takes the place of an empty directory that came to be since.
    if (await exists(to, newName)) throw taken()
    await rename(from.entry(name), to.entry(newName)).catch((error: unknown) => {
      throw ['ENOTEMPTY', 'EEXIST', 'ENOTDIR'].includes(errorCodeOf(error) ?? '') ? taken() : error
    })
    return
  }
  try {
    await link(from.entry(name), to.entry(newName))
  } catch (error) {
    const code = errorCodeOf(error) ?? ''
    if (code === 'EEXIST') throw taken()
    if (!NO_LINKS.includes(code)) throw error
    await placeOverReservation(from, name, to, newName, taken)
    return
  }
  await unlink(from.entry(name)).catch(async (error: unknown) => {
    // Who took it away meanwhile has moved or deleted it: it is not to come back here.
    if (errorCodeOf(error) === 'ENOENT' && (await lstatOf(to, newName))?.ino === stats.ino)
      await unlink(to.entry(newName))
    throw error
  })
}

async function placeOverReservation(
  from: HeldDirectory,
  name: string,
  to: HeldDirectory,
  newName: string,
  taken: () => AppError,
): Promise<void> {
  const reservation = await open(
    to.entry(newName),
    constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY | constants.O_NOFOLLOW,
  ).catch((error: unknown) => {
    throw errorCodeOf(error) === 'EEXIST' ? taken() : error
  })
  await reservation.close()
  try {
    await rename(from.entry(name), to.entry(newName))
  } catch (error) {
    await unlink(to.entry(newName))
    throw error
  }
}

/** Tries `name.ext`, `name (2).ext`, `name (3).ext` … until `place` does not find one taken (AppError NAME_TAKEN). @returns the name it got. */
export async function placeUnderFreeName(wanted: string, place: (candidate: string) => Promise<void>): Promise<string> {
  for (let count = 1; ; count += 1) {
    const candidate = count === 1 ? wanted : numberedName(wanted, count)
    try {
      await place(candidate)
      return candidate
    } catch (error) {
      if (!(error instanceof AppError && error.code === 'NAME_TAKEN') || count >= 10_000) throw error
    }
  }
}

/** Makes what was renamed within a directory survive a loss of power. */
export async function syncDirectory({ self }: HeldDirectory): Promise<void> {
  const handle = await open(self, constants.O_RDONLY | constants.O_DIRECTORY)
  try {
    await handle.sync()
  } catch (error) {
    // Some network file systems cannot, and do it by themselves.
    if (!['EINVAL', 'ENOTSUP', 'EOPNOTSUPP'].includes(errorCodeOf(error) ?? '')) throw error
  } finally {
    await handle.close()
  }
}

async function exists(directory: HeldDirectory, name: string): Promise<boolean> {
  return (await lstatOf(directory, name)) !== undefined
}

/** Of the entry itself, links not followed; undefined when there is none. */
export async function lstatOf(directory: HeldDirectory, name: RawName): Promise<Stats | undefined> {
  return lstat(directory.entry(name)).catch((error: unknown) => {
    if (errorCodeOf(error) === 'ENOENT') return undefined
    throw error
  })
}
