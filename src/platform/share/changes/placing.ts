import { constants } from 'node:fs'
import { link, lstat, open, rename, unlink } from 'node:fs/promises'
import { numberedName } from '../../../contract/pageRules'
import { AppError, errorCodeOf } from '../../errors'
import type { OpenDirectory } from '../jail'
import { printable } from '../apiPath'
import { lstatOf } from '../directoryEntries'

/** Error codes of file systems without hard links, or without links between these two places. */
const LINK_UNSUPPORTED = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EXDEV', 'EACCES']

/**
 * Renames an entry without replacing another: of two concurrent calls for one name, one succeeds. A crash can leave a
 * file under both names, never under neither.
 * @throws AppError NAME_TAKEN, and Node.js errors of the file system; ENOENT also if the entry is moved during the
 * call.
 */
export async function renameNoReplace(
  from: OpenDirectory,
  name: string,
  to: OpenDirectory,
  newName: string,
): Promise<void> {
  const nameTaken = () => new AppError('NAME_TAKEN', `"${printable(newName)}" exists already.`)
  const stats = await lstat(from.entryPath(name))
  if (stats.isDirectory()) {
    // Race: rename(2) can replace an empty directory that was created after this check.
    if (await entryExists(to, newName)) throw nameTaken()
    await rename(from.entryPath(name), to.entryPath(newName)).catch((error: unknown) => {
      throw ['ENOTEMPTY', 'EEXIST', 'ENOTDIR'].includes(errorCodeOf(error) ?? '') ? nameTaken() : error
    })
    return
  }
  try {
    await link(from.entryPath(name), to.entryPath(newName))
  } catch (error) {
    const code = errorCodeOf(error) ?? ''
    if (code === 'EEXIST') throw nameTaken()
    if (!LINK_UNSUPPORTED.includes(code)) throw error
    await renameOverReservation(from, name, to, newName, nameTaken)
    return
  }
  await unlink(from.entryPath(name)).catch(async (error: unknown) => {
    // If another process moved or deleted the entry in the meantime, the new link must not bring it back.
    if (errorCodeOf(error) === 'ENOENT' && (await lstatOf(to, newName))?.ino === stats.ino)
      await unlink(to.entryPath(newName))
    throw error
  })
}

async function renameOverReservation(
  from: OpenDirectory,
  name: string,
  to: OpenDirectory,
  newName: string,
  nameTaken: () => AppError,
): Promise<void> {
  const reservation = await open(
    to.entryPath(newName),
    constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY | constants.O_NOFOLLOW,
  ).catch((error: unknown) => {
    throw errorCodeOf(error) === 'EEXIST' ? nameTaken() : error
  })
  await reservation.close()
  try {
    await rename(from.entryPath(name), to.entryPath(newName))
  } catch (error) {
    await unlink(to.entryPath(newName))
    throw error
  }
}

/** Up to this number, the lowest free one is searched. */
const LAST_CONSECUTIVE = 20
/** Another entry may take a name after it was found free. */
const MAX_ATTEMPTS = 1000

/**
 * Places something under its name or, if that is taken, under `name (2).ext`, `name (3).ext` …
 * @param place throws AppError NAME_TAKEN if the name is taken by now. @returns the name
 */
export async function placeUnderFreeName(
  wanted: string,
  isTaken: (candidate: string) => Promise<boolean>,
  place: (candidate: string) => Promise<void>,
): Promise<string> {
  const nameOf = (count: number) => (count === 1 ? wanted : numberedName(wanted, count))
  for (let attempt = 1; ; attempt += 1) {
    const candidate = nameOf(await freeNumber((count) => isTaken(nameOf(count))))
    try {
      await place(candidate)
      return candidate
    } catch (error) {
      if (!(error instanceof AppError && error.code === 'NAME_TAKEN') || attempt >= MAX_ATTEMPTS) throw error
    }
  }
}

/** A free number after a taken one. In long steps, because a directory may have thousands of files of one name. */
async function freeNumber(isTaken: (count: number) => Promise<boolean>): Promise<number> {
  let taken = 0
  let step = 1
  while (await isTaken(taken + step)) {
    taken += step
    if (taken >= LAST_CONSECUTIVE) step *= 2
  }
  while (step > 1) {
    step /= 2
    if (await isTaken(taken + step)) taken += step
  }
  return taken + 1
}

/** Whether a directory has an entry of this name. */
export async function entryExists(directory: OpenDirectory, name: string): Promise<boolean> {
  return (await lstatOf(directory, name)) !== undefined
}
