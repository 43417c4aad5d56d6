import { mkdir, statfs } from 'node:fs/promises'
import type { Logger } from 'pino'
import { AppError, errorCodeOf } from '../errors'
import { DEPTH_LIMIT, tooDeep } from './depth'
import { fileFailure } from './fileFailure'
import {
  holding,
  namesIn,
  openRealDirectory,
  openRegularFile,
  openSubdirectory,
  type HeldDirectory,
  type Jail,
} from './jail'
import { createLeftOut, type LeftOut } from './leftOut'
import { inheritOwner } from './ownership'
import { isOwnName } from './ownNames'
import { lstatOf } from './placing'
import { copyWithHoles, HOLES_LIMIT, holesOf, tooManyHoles } from './sparse'
import type { Temporaries } from './temporaries'
import { matchesWildcard } from './wildcard'

/** Setting a modification time keeps it to a microsecond or so. */
const SAME_MS = 1

export interface WrittenBack {
  /** Absolute path of the instance's copy. */
  copy: string
  /** Real path of the deployment's directory, in the shared area. */
  directory: string
  /** As a definition's `keep` names them: relative, `*` stands for any characters of one name. */
  paths: string[]
}

/**
 * Copies files of an instance's copy to the deployment's directory (decisions §13, `keep`), each replaced at once: those that are missing
 * there or older. What is newer there was written by another instance or an operator meanwhile; nothing is deleted for the same reason.
 * Links and special files are left out, and so are names that are not valid UTF-8. Every step is relative to a held directory and
 * follows no link.
 * @param leftOut is told of what is not written back although it is named: directories that lie too deep, files with too many holes.
 * @returns how many files were written.
 * @throws the signal's reason when it is aborted (what is written by then stays); AppError CONFLICT where a file is in a directory's
 *   place or the reverse, NOT_FOUND when the directory is gone, UNAVAILABLE while the shared area is not mounted, DISK_FULL
 */
export type WriteBack = (what: WrittenBack, signal: AbortSignal, leftOut?: LeftOut) => Promise<number>

interface Writing {
  signal: AbortSignal
  leftOut: LeftOut
  /** Of the files so far. In bytes. */
  holes: number
}

export function createWriteBack(jail: Jail, temporaries: Temporaries, log: Logger): WriteBack {
  async function writeFileBack(
    from: HeldDirectory,
    to: HeldDirectory,
    name: string,
    above: string,
    writing: Writing,
  ): Promise<number> {
    const opened = await openRegularFile(from, name)
    if (!opened) return 0
    const { handle, stats } = opened
    try {
      const there = await lstatOf(to, name)
      if (there?.isDirectory())
        throw new AppError('CONFLICT', `In the place of the file "${name}" there is a directory.`)
      if (there?.isFile() && there.mtimeMs >= stats.mtimeMs - SAME_MS) return 0
      const holes = holesOf(stats)
      if (writing.holes + holes > HOLES_LIMIT) {
        writing.leftOut.add(tooManyHoles(`${above}${name}`, stats))
        return 0
      }
      writing.holes += holes
      const { bavail, bsize } = await statfs(to.self)
      if (stats.size - holes > bavail * bsize)
        throw new AppError('DISK_FULL', `The disk of the shared area has no room for "${name}".`)
      const temporary = await temporaries.file(to, stats.mode & 0o777)
      try {
        // To the size that it had: a process that was left may go on writing.
        await copyWithHoles(handle, stats.size, temporary.handle, writing.signal)
        // As numbers: there are times that no Date can be.
        await temporary.handle.utimes(stats.atimeMs / 1000, stats.mtimeMs / 1000)
      } catch (error) {
        await temporary.discard()
        throw error
      }
      await temporary.replace(name)
      return 1
    } finally {
      await handle.close()
    }
  }

  /** @param above the path of the directory it is in, each name with a slash at its end. @param level of the entry, from 1 */
  async function writeEntryBack(
    from: HeldDirectory,
    to: HeldDirectory,
    name: string,
    above: string,
    level: number,
    writing: Writing,
  ): Promise<number> {
    writing.signal.throwIfAborted()
    const below = await openSubdirectory(from, name)
    if (!below) return writeFileBack(from, to, name, above, writing)
    if (level > DEPTH_LIMIT) {
      await below.close()
      writing.leftOut.add(tooDeep(`${above}${name}`))
      return 0
    }
    return holding(Promise.resolve(below), async (source) =>
      holding(ensureSubdirectory(to, name), async (target) => {
        let written = 0
        for (const entry of await usableNamesIn(source))
          written += await writeEntryBack(source, target, entry, `${above}${name}/`, level + 1, writing)
        return written
      }),
    )
  }

  /** Directories are made in the target only where something in them is named. */
  async function writePathBack(
    from: HeldDirectory,
    openTarget: () => Promise<HeldDirectory>,
    [pattern = '', ...rest]: string[],
    above: string[],
    writing: Writing,
  ): Promise<number> {
    let written = 0
    for (const name of await usableNamesIn(from)) {
      if (!matchesWildcard(pattern, name)) continue
      if (rest.length === 0) {
        written += await holding(openTarget(), (to) =>
          writeEntryBack(from, to, name, above.map((one) => `${one}/`).join(''), above.length + 1, writing),
        )
        continue
      }
      const below = await openSubdirectory(from, name)
      if (!below) continue
      const openBelow = () => holding(openTarget(), (to) => ensureSubdirectory(to, name))
      written += await holding(Promise.resolve(below), (source) =>
        writePathBack(source, openBelow, rest, [...above, name], writing),
      )
    }
    return written
  }

  /** It must be the directory that the copy was made of, not what a link leads to by now. */
  async function openTarget(directory: string): Promise<HeldDirectory> {
    const root = await jail.root()
    if (!directory.startsWith(`${root}/`))
      throw new AppError('CONFLICT', 'The shared area is another one by now (QUARTERDECK_SHARE_DIR).')
    return openRealDirectory(directory)
  }

  return async ({ copy, directory, paths }, signal, leftOut = createLeftOut()) => {
    try {
      const opened = await openRealDirectory(copy).catch((error: unknown) => {
        if (errorCodeOf(error) === 'ENOENT') return undefined
        throw error
      })
      // Somebody removed it: there is nothing to write.
      if (!opened) return 0
      return await holding(Promise.resolve(opened), async (from) => {
        let written = 0
        const writing = { signal, leftOut, holes: 0 }
        for (const path of paths)
          written += await writePathBack(from, () => openTarget(directory), path.split('/'), [], writing)
        return written
      })
    } catch (error) {
      if (signal.aborted) throw error
      const failure = fileFailure(error, paths.map((path) => `"${path}"`).join(', '))
      if (!(failure instanceof AppError))
        log.error({ err: error, copy, directory }, 'what an instance wrote could not be written back')
      throw failure
    }
  }
}

async function usableNamesIn(directory: HeldDirectory): Promise<string[]> {
  return (await namesIn(directory)).flatMap((name) => (typeof name === 'string' && !isOwnName(name) ? [name] : []))
}

async function ensureSubdirectory(directory: HeldDirectory, name: string): Promise<HeldDirectory> {
  try {
    await mkdir(directory.entry(name), { mode: 0o755 })
    await inheritOwner(directory, name)
  } catch (error) {
    if (errorCodeOf(error) !== 'EEXIST') throw error
  }
  const opened = await openSubdirectory(directory, name)
  if (!opened) throw new AppError('CONFLICT', `In the place of the directory "${name}" there is a file or a link.`)
  return opened
}
