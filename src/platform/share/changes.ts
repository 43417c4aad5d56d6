import type { Stats } from 'node:fs'
import { lstat, mkdir } from 'node:fs/promises'
import { AppError, errorCodeOf } from '../errors'
import { DEPTH_LIMIT } from './depth'
import type { EntryTurns } from './entryTurns'
import { fileFailure } from './fileFailure'
import { holdingParent, type HeldDirectory, type Jail } from './jail'
import { inheritOwner } from './ownership'
import { lstatOf, placeNew, syncDirectory } from './placing'
import { createFile, removeTree } from './removal'
import { checkNewName, namesOf, parentAndName, printable, wirePathOf } from './wirePath'

/** Every call throws AppError INVALID_INPUT for a path that is none, NOT_FOUND, and NOT_ALLOWED where it leads out. */
export interface Changes {
  /** An empty one. @throws AppError NAME_TAKEN */
  createFile(path: string): Promise<void>
  /** @throws AppError NAME_TAKEN */
  createDirectory(path: string): Promise<void>
  /** Moves or renames; nothing is ever replaced. @throws AppError NAME_TAKEN, CONFLICT (into itself, onto another file system) */
  move(sourcePath: string, targetPath: string): Promise<void>
  /** A link is removed, never what it points at, also below: a listing shows one as what that is. @throws AppError CONFLICT for a directory */
  removeFile(path: string): Promise<void>
  /** With all it holds. @throws AppError CONFLICT for what is no directory */
  removeDirectory(path: string): Promise<void>
}

export function createChanges(jail: Jail, turns: EntryTurns): Changes {
  async function make(path: string, work: (directory: HeldDirectory, name: string) => Promise<unknown>): Promise<void> {
    const names = namesOf(path)
    checkNewName(parentAndName(names)[1], 'path')
    await named(path, () =>
      holdingParent(jail.parent(names), (directory, name) =>
        turns([[directory, name]], async () => {
          await work(directory, name)
          await inheritOwner(directory, name)
          await syncDirectory(directory)
        }),
      ),
    )
  }

  async function remove(path: string, isRight: (stats: Stats) => boolean, wrong: string): Promise<void> {
    await named(path, () =>
      holdingParent(jail.parent(namesOf(path)), (directory, name) =>
        turns([[directory, name]], async () => {
          if (!isRight(await lstat(directory.entry(name))))
            throw new AppError('CONFLICT', `${printable(path)} ${wrong}`)
          await removeTree(directory, name)
          await syncDirectory(directory)
        }),
      ),
    )
  }

  return {
    createFile: (path) => make(path, async (directory, name) => (await createFile(directory, name)).close()),
    async createDirectory(path) {
      // It could be put into no archive.
      if (namesOf(path).length > DEPTH_LIMIT)
        throw new AppError('INVALID_INPUT', `path: A directory may lie at most ${DEPTH_LIMIT} directories deep.`, {
          field: 'path',
        })
      await make(path, (directory, name) => mkdir(directory.entry(name), { mode: 0o755 }))
    },

    async move(sourcePath, targetPath) {
      const [source, target] = [namesOf(sourcePath, 'sourcePath'), namesOf(targetPath, 'targetPath')]
      const wanted = parentAndName(target, 'targetPath')[1]
      // A file that came from outside under an odd name may keep it while it moves.
      if (wanted !== parentAndName(source, 'sourcePath')[1]) checkNewName(wanted, 'targetPath')
      if (wirePathOf(source) === wirePathOf(target))
        throw new AppError('NAME_TAKEN', `${printable(targetPath)} exists already: it is what would be moved.`)
      const gone = () => new AppError('NOT_FOUND', `There is no ${printable(sourcePath)}.`)
      await named(sourcePath, () =>
        holdingParent(jail.parent(source, 'sourcePath'), async (from, name) => {
          if (!(await lstatOf(from, name))) throw gone()
          await named(targetPath, () =>
            holdingParent(jail.parent(target, 'targetPath'), (to, newName) =>
              turns(
                [
                  [from, name],
                  [to, newName],
                ],
                async () => {
                  const stats = await lstatOf(from, name)
                  if (!stats) throw gone()
                  if (stats.isDirectory() && `${to.realPath}/`.startsWith(`${from.realPath}/${name}/`))
                    throw intoItself(sourcePath)
                  await placeNew(from, name, to, newName).catch(async (error: unknown) => {
                    const code = errorCodeOf(error)
                    if (code === 'EINVAL') throw intoItself(sourcePath)
                    if (code === 'EXDEV')
                      throw new AppError(
                        'CONFLICT',
                        `${printable(targetPath)} is on another file system. Download and upload it, or move it on the server.`,
                      )
                    if (code === 'ENOENT' && !(await lstatOf(from, name))) throw gone()
                    throw error
                  })
                  await inheritOwner(to, newName)
                  await syncDirectory(to)
                  if (to.realPath !== from.realPath) await syncDirectory(from)
                },
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

function intoItself(path: string): AppError {
  return new AppError('CONFLICT', `${printable(path)} cannot be moved into itself.`)
}

/** Says of failures of the file system which path they are about. */
async function named<Result>(path: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    throw fileFailure(error, path)
  }
}
