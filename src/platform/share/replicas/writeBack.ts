import { mkdir, statfs } from 'node:fs/promises'
import type { Logger } from 'pino'
import { AppError, errorCodeOf } from '../../errors'
import { DEPTH_LIMIT, tooDeepMessage } from '../depth'
import { fileFailure } from '../fileFailure'
import {
  withDirectory,
  readNames,
  openRealDirectory,
  openRegularFile,
  openSubdirectory,
  type OpenDirectory,
  type Jail,
} from '../jail'
import { createSkippedEntries, type SkippedEntries } from '../skippedEntries'
import { inheritOwner } from '../ownership'
import { isInternalName } from '../internalNames'
import { copyWithHoles, HOLES_LIMIT, holesOf, tooManyHolesMessage } from './sparseFiles'
import type { Temporaries } from '../changes/temporaries'
import { matchesWildcard } from './wildcard'
import { lstatOf } from '../directoryEntries'

/** File systems store a modification time that is set with microsecond precision at best. */
const MTIME_PRECISION_MS = 1

export interface WriteBackTask {
  /** Absolute path of the instance's copy. */
  copy: string
  /** Real path of the deployment's directory, in the shared area. */
  directory: string
  /** Real path of the deployment's directory in the shared area. */
  paths: string[]
}

/**
 * Copies files from an instance's copy to the deployment's directory (decisions §13, `keep`): those that are missing
 * there or older, each replaced atomically. A newer file there was written by another instance or an operator, so it
 * stays; for the same reason nothing is deleted. Omits links, special files and names that are not valid UTF-8, and
 * follows no link.
 * @param skipped collects what matches but is not written back: directories that are too deep, files with too many
 * holes.
 * @returns the number of files written.
 * @throws the signal's reason (written files stay); AppError CONFLICT (a file in a directory's place or the reverse),
 * NOT_FOUND (no directory), UNAVAILABLE (not mounted), DISK_FULL
 */
export type WriteBack = (task: WriteBackTask, signal: AbortSignal, skipped?: SkippedEntries) => Promise<number>

interface WriteContext {
  signal: AbortSignal
  skipped: SkippedEntries
  /** Bytes of holes in the files so far. */
  holes: number
}

export function createWriteBack(jail: Jail, temporaries: Temporaries, log: Logger): WriteBack {
  async function writeFileBack(
    from: OpenDirectory,
    to: OpenDirectory,
    name: string,
    parentPath: string,
    context: WriteContext,
  ): Promise<number> {
    const opened = await openRegularFile(from, name)
    if (!opened) return 0
    const { handle, stats } = opened
    try {
      const existing = await lstatOf(to, name)
      if (existing?.isDirectory())
        throw new AppError('CONFLICT', `In the place of the file "${name}" there is a directory.`)
      if (existing?.isFile() && existing.mtimeMs >= stats.mtimeMs - MTIME_PRECISION_MS) return 0
      const holes = holesOf(stats)
      if (context.holes + holes > HOLES_LIMIT) {
        context.skipped.add(tooManyHolesMessage(`${parentPath}${name}`, stats))
        return 0
      }
      context.holes += holes
      const { bavail, bsize } = await statfs(to.procPath)
      if (stats.size - holes > bavail * bsize)
        throw new AppError('DISK_FULL', `The disk of the shared area has no room for "${name}".`)
      const temporary = await temporaries.file(to, stats.mode & 0o777)
      try {
        // Only up to the measured size: a leftover process may still be writing.
        await copyWithHoles(handle, stats.size, temporary.handle, context.signal)
        // As numbers: a Date cannot represent every time of a file.
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

  /** @param parentPath path of its directory, each name with a trailing slash. @param level of the entry, from 1 */
  async function writeEntryBack(
    from: OpenDirectory,
    to: OpenDirectory,
    name: string,
    parentPath: string,
    level: number,
    context: WriteContext,
  ): Promise<number> {
    context.signal.throwIfAborted()
    const below = await openSubdirectory(from, name)
    if (!below) return writeFileBack(from, to, name, parentPath, context)
    if (level > DEPTH_LIMIT) {
      await below.close()
      context.skipped.add(tooDeepMessage(`${parentPath}${name}`))
      return 0
    }
    return withDirectory(Promise.resolve(below), async (source) =>
      withDirectory(ensureSubdirectory(to, name), async (target) => {
        let written = 0
        for (const entry of await readUsableNames(source))
          written += await writeEntryBack(source, target, entry, `${parentPath}${name}/`, level + 1, context)
        return written
      }),
    )
  }

  /** Creates directories in the target only for matching entries. */
  async function writePathBack(
    from: OpenDirectory,
    openTarget: () => Promise<OpenDirectory>,
    [pattern = '', ...rest]: string[],
    parentPath: string[],
    context: WriteContext,
  ): Promise<number> {
    let written = 0
    for (const name of await readUsableNames(from)) {
      if (!matchesWildcard(pattern, name)) continue
      if (rest.length === 0) {
        written += await withDirectory(openTarget(), (to) =>
          writeEntryBack(from, to, name, parentPath.map((one) => `${one}/`).join(''), parentPath.length + 1, context),
        )
        continue
      }
      const below = await openSubdirectory(from, name)
      if (!below) continue
      const openBelow = () => withDirectory(openTarget(), (to) => ensureSubdirectory(to, name))
      written += await withDirectory(Promise.resolve(below), (source) =>
        writePathBack(source, openBelow, rest, [...parentPath, name], context),
      )
    }
    return written
  }

  /** Must be the directory that the copy was made from, not the target of a link that replaced it. */
  async function openTarget(directory: string): Promise<OpenDirectory> {
    const root = await jail.root()
    if (!directory.startsWith(`${root}/`))
      throw new AppError('CONFLICT', 'The shared area is another one by now (QUARTERDECK_SHARE_DIR).')
    return openRealDirectory(directory)
  }

  return async ({ copy, directory, paths }, signal, skipped = createSkippedEntries()) => {
    try {
      const opened = await openRealDirectory(copy).catch((error: unknown) => {
        if (errorCodeOf(error) === 'ENOENT') return undefined
        throw error
      })
      // The copy was removed: there is nothing to write.
      if (!opened) return 0
      return await withDirectory(Promise.resolve(opened), async (from) => {
        let written = 0
        const context = { signal, skipped, holes: 0 }
        for (const path of paths)
          written += await writePathBack(from, () => openTarget(directory), path.split('/'), [], context)
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

async function readUsableNames(directory: OpenDirectory): Promise<string[]> {
  return (await readNames(directory)).flatMap((name) =>
    typeof name === 'string' && !isInternalName(name) ? [name] : [],
  )
}

async function ensureSubdirectory(directory: OpenDirectory, name: string): Promise<OpenDirectory> {
  try {
    await mkdir(directory.entryPath(name), { mode: 0o755 })
    await inheritOwner(directory, name)
  } catch (error) {
    if (errorCodeOf(error) !== 'EEXIST') throw error
  }
  const opened = await openSubdirectory(directory, name)
  if (!opened) throw new AppError('CONFLICT', `In the place of the directory "${name}" there is a file or a link.`)
  return opened
}
