import { mkdir, type FileHandle } from 'node:fs/promises'
import { relative } from 'node:path'
import type { Logger } from 'pino'
import { AppError, errorCodeOf } from '../errors'
import { fileFailure } from './fileFailure'
import { holding, namesIn, openRealDirectory, openRegularFile, openSubdirectory, type HeldDirectory, type Jail } from './jail'
import { inheritOwner } from './ownership'
import { isOwnName } from './ownNames'
import { lstatOf } from './placing'
import type { Temporaries } from './temporaries'
import { matchesWildcard } from './wildcard'

/** How much of a file is in memory at once. In bytes. */
const CHUNK_BYTES = 2 ** 20

export interface WrittenBack {
  /** Absolute path of the instance's copy. */
  copy: string
  /** Real path of the deployment's directory, in the shared area. */
  directory: string
  /** As a definition's `keep` names them: relative, `*` stands for any characters of one name. */
  paths: string[]
}

/**
 * Copies files of an instance's copy to the deployment's directory (decisions §13, `keep`): new and changed ones, each replaced at once.
 * Nothing is deleted there, because another instance may have written it. Links and special files are left out, and so are names that
 * are no UTF-8. Every step is relative to a held directory and follows no link.
 * @returns how many files were written.
 * @throws the signal's reason when it is aborted (what is written by then stays); AppError CONFLICT where a file is in a directory's
 *   place or the reverse, NOT_FOUND when the directory is gone, UNAVAILABLE while the shared area is not mounted, DISK_FULL
 */
export type WriteBack = (what: WrittenBack, signal: AbortSignal) => Promise<number>

export function createWriteBack(jail: Jail, temporaries: Temporaries, log: Logger): WriteBack {
  async function writeFileBack(from: HeldDirectory, to: HeldDirectory, name: string, signal: AbortSignal): Promise<number> {
    const opened = await openRegularFile(from, name)
    if (!opened) return 0
    const { handle, stats } = opened
    try {
      const there = await lstatOf(to, name)
      if (there?.isDirectory()) throw new AppError('CONFLICT', `In the place of the file "${name}" there is a directory.`)
      // Setting a modification time keeps it to a microsecond or so.
      if (there?.isFile() && there.size === stats.size && Math.abs(there.mtimeMs - stats.mtimeMs) < 1) return 0
      const temporary = await temporaries.file(to, stats.mode & 0o777)
      try {
        await copyContent(handle, stats.size, temporary.handle, signal)
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

  async function writeEntryBack(from: HeldDirectory, to: HeldDirectory, name: string, signal: AbortSignal): Promise<number> {
    signal.throwIfAborted()
    const below = await openSubdirectory(from, name)
    if (!below) return writeFileBack(from, to, name, signal)
    return holding(Promise.resolve(below), async (source) =>
      holding(ensureSubdirectory(to, name), async (target) => {
        let written = 0
        for (const entry of await usableNamesIn(source)) written += await writeEntryBack(source, target, entry, signal)
        return written
      }))
  }

  /** Directories are made in the target only where something in them is named. */
  async function writePathBack(from: HeldDirectory, openTarget: () => Promise<HeldDirectory>, [pattern = '', ...rest]: string[], signal: AbortSignal): Promise<number> {
    let written = 0
    for (const name of await usableNamesIn(from)) {
      if (!matchesWildcard(pattern, name)) continue
      if (rest.length === 0) {
        written += await holding(openTarget(), (to) => writeEntryBack(from, to, name, signal))
        continue
      }
      const below = await openSubdirectory(from, name)
      if (!below) continue
      const openBelow = () => holding(openTarget(), (to) => ensureSubdirectory(to, name))
      written += await holding(Promise.resolve(below), (source) => writePathBack(source, openBelow, rest, signal))
    }
    return written
  }

  return async ({ copy, directory, paths }, signal) => {
    const names = relative(await jail.root(), directory).split('/').filter(Boolean)
    return holding(openRealDirectory(copy), async (from) => {
      let written = 0
      for (const path of paths) {
        written += await writePathBack(from, () => jail.directory(names), path.split('/'), signal).catch((error: unknown) => {
          const failure = signal.aborted ? error : fileFailure(error, `"${path}"`)
          if (!signal.aborted && !(failure instanceof AppError)) log.error({ err: error, directory, path }, 'what an instance wrote could not be written back')
          throw failure
        })
      }
      return written
    })
  }
}

/** Not by streams: a FileHandle whose stream does not close it cannot be closed any more. */
async function copyContent(from: FileHandle, size: number, to: FileHandle, signal: AbortSignal): Promise<void> {
  const chunk = Buffer.allocUnsafe(Math.max(1, Math.min(CHUNK_BYTES, size)))
  for (let at = 0; ; ) {
    signal.throwIfAborted()
    const { bytesRead } = await from.read(chunk, 0, chunk.length, at)
    if (bytesRead === 0) return
    await to.writeFile(chunk.subarray(0, bytesRead))
    at += bytesRead
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
