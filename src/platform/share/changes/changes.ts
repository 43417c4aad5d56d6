import type { Stats } from 'node:fs'
import { lstat, mkdir } from 'node:fs/promises'
import { AppError, errorCodeOf } from '../../errors'
import { DEPTH_LIMIT } from '../depth'
import type { EntryLocks } from './entryLocks'
import { fileFailure, isDiskFull } from '../fileFailure'
import { withParent, type OpenDirectory, type Jail } from '../jail'
import { inheritOwner } from '../ownership'
import { renameNoReplace } from './placing'
import { removeTree } from './removal'
import { checkNewName, parsePath, parentAndName, printable, formatPath } from '../apiPath'
import { createFile, lstatOf, syncDirectory } from '../directoryEntries'

/** Every method throws AppError INVALID_INPUT (malformed path), NOT_FOUND, NOT_ALLOWED (outside the area). */
export interface Changes {
  /** Creates an empty file. @throws AppError NAME_TAKEN */
  createFile(path: string): Promise<void>
  /** @throws AppError NAME_TAKEN */
  createDirectory(path: string): Promise<void>
  /** Never replaces anything. @throws AppError NAME_TAKEN, CONFLICT (into itself, across file systems) */
  move(sourcePath: string, targetPath: string): Promise<void>
  /** Also removes a link to a directory, but never its target. @throws AppError CONFLICT for a directory */
  removeFile(path: string): Promise<void>
  /** Recursive; of a link, removes only the link. @throws AppError CONFLICT if it is not a directory */
  removeDirectory(path: string): Promise<void>
}

export function createChanges(jail: Jail, withLocks: EntryLocks): Changes {
  async function create(
    path: string,
    work: (directory: OpenDirectory, name: string) => Promise<unknown>,
  ): Promise<void> {
    const segments = parsePath(path)
    checkNewName(parentAndName(segments)[1], 'path')
    await withPathInErrors(path, () =>
      withParent(jail.openParent(segments), (directory, name) =>
        withLocks([[directory, name]], async () => {
          await work(directory, name)
          await inheritOwner(directory, name)
          await syncDirectory(directory)
        }),
      ),
    )
  }

  async function remove(path: string, isAllowed: (stats: Stats) => boolean, otherwise: string): Promise<void> {
    await withPathInErrors(path, () =>
      withParent(jail.openParent(parsePath(path)), (directory, name) =>
        withLocks([[directory, name]], async () => {
          if (!isAllowed(await lstat(directory.entryPath(name))))
            throw new AppError('CONFLICT', `${printable(path)} ${otherwise}`)
          await removeTree(directory, name)
          await syncDirectory(directory)
        }),
      ),
    )
  }

  return {
    createFile: (path) => create(path, async (directory, name) => (await createFile(directory, name)).close()),
    async createDirectory(path) {
      // A deeper directory could not be archived.
      if (parsePath(path).length > DEPTH_LIMIT)
        throw new AppError('INVALID_INPUT', `path: A directory may be at most ${DEPTH_LIMIT} directories deep.`, {
          field: 'path',
        })
      await create(path, (directory, name) => mkdir(directory.entryPath(name), { mode: 0o755 }))
    },

    async move(sourcePath, targetPath) {
      const [source, target] = [parsePath(sourcePath, 'sourcePath'), parsePath(targetPath, 'targetPath')]
      const newTargetName = parentAndName(target, 'targetPath')[1]
      // A file that was created outside the platform may keep an unusual name when it moves.
      if (newTargetName !== parentAndName(source, 'sourcePath')[1]) checkNewName(newTargetName, 'targetPath')
      if (formatPath(source) === formatPath(target))
        throw new AppError(
          'NAME_TAKEN',
          `${printable(targetPath)} is the file or directory that is to be moved. Choose another target.`,
        )
      await withPathInErrors(sourcePath, () =>
        withParent(jail.openParent(source, 'sourcePath'), async (from, name) => {
          if (!(await lstatOf(from, name))) throw notFound(sourcePath)
          await withPathInErrors(targetPath, () =>
            withParent(jail.openParent(target, 'targetPath'), (to, newName) =>
              withLocks(
                [
                  [from, name],
                  [to, newName],
                ],
                () =>
                  moveEntry(
                    { directory: from, name, path: sourcePath },
                    { directory: to, name: newName, path: targetPath },
                  ),
              ),
            ),
          )
        }),
      )
    },

    removeFile: (path) => remove(path, (stats) => !stats.isDirectory(), 'is a directory.'),
    removeDirectory: (path) =>
      remove(path, (stats) => stats.isDirectory() || stats.isSymbolicLink(), 'is not a directory.'),
  }
}

interface Place {
  directory: OpenDirectory
  name: string
  /** As in the request, for messages. */
  path: string
}

/** Moves an entry while both names are locked. @throws AppError NOT_FOUND, NAME_TAKEN, CONFLICT */
async function moveEntry(source: Place, target: Place): Promise<void> {
  const { directory: from, name } = source
  const { directory: to, name: newName } = target
  const stats = await lstatOf(from, name)
  if (!stats) throw notFound(source.path)
  if (stats.isDirectory() && `${to.realPath}/`.startsWith(`${from.realPath}/${name}/`)) throw intoItself(source.path)
  try {
    await renameNoReplace(from, name, to, newName)
  } catch (error) {
    const code = errorCodeOf(error)
    if (code === 'EINVAL') throw intoItself(source.path)
    if (code === 'EXDEV')
      throw new AppError(
        'CONFLICT',
        `${printable(target.path)} is on another file system. Download and upload it, or move it on the server.`,
      )
    if (code === 'ENOENT' && !(await lstatOf(from, name))) throw notFound(source.path)
    throw error
  }
  await inheritOwner(to, newName).catch((error: unknown) => {
    if (!isDiskFull(error)) throw error
    throw new AppError(
      'DISK_FULL',
      `${printable(target.path)} was moved, but the disk of the shared area is full: not all of it belongs to its new deployment yet. Make room, move it back, and then move it here again.`,
    )
  })
  await syncDirectory(to)
  if (to.realPath !== from.realPath) await syncDirectory(from)
}

function notFound(path: string): AppError {
  return new AppError('NOT_FOUND', `There is no ${printable(path)}.`)
}

function intoItself(path: string): AppError {
  return new AppError('CONFLICT', `${printable(path)} cannot be moved into itself.`)
}

/** Adds the path to failures of the file system. */
async function withPathInErrors<Result>(path: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    throw fileFailure(error, path)
  }
}
