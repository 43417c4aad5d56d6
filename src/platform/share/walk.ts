import type { Stats } from 'node:fs'
import { readlink, type FileHandle } from 'node:fs/promises'
import { join, relative } from 'node:path/posix'
import { AppError, errorCodeOf } from '../errors'
import { DEPTH_LIMIT, tooDeepMessage, truncatedPath } from './depth'
import { namesIn, openRegularFile, openSubdirectory, type OpenDirectory, type RawName } from './jail'
import type { SkippedEntries } from './skippedEntries'
import { isInternalName } from './internalNames'
import { lstatOf } from './directoryEntries'

export interface TreeEntry {
  /** Relative path that begins with the name of the walked entry: `world/level.dat`. */
  path: string
  type: 'file' | 'directory' | 'link'
  stats: Stats
  /** The target of a link, within the tree. */
  target?: string
  /** Opens a file, before the next entry is requested; undefined if it is no regular file any more. */
  open(): Promise<{ handle: FileHandle; stats: Stats } | undefined>
}

/**
 * Yields a file, or a directory with everything in it, depth first, without following links. Omits links that leave the
 * tree, FIFOs, sockets, devices and unfinished files of the platform.
 * @param skipped collects directories that are too deep, and entries that the platform may not read.
 * @throws the signal's reason; without `skipped`, AppError CONFLICT for a directory that is too deep, and the Node.js
 * error of what may not be read
 */
export async function* walkTree(
  directory: OpenDirectory,
  name: string,
  signal?: AbortSignal,
  skipped?: SkippedEntries,
): AsyncGenerator<TreeEntry> {
  yield* walk(directory, name, name, 1, { signal, skipped })
}

interface WalkContext {
  signal: AbortSignal | undefined
  skipped: SkippedEntries | undefined
}

async function* walk(
  directory: OpenDirectory,
  name: RawName,
  path: string,
  level: number,
  context: WalkContext,
): AsyncGenerator<TreeEntry> {
  context.signal?.throwIfAborted()
  const stats = await unlessForbidden(lstatOf(directory, name), path, context.skipped)
  if (!stats) return
  const entry = { path, stats, open: () => openRegularFile(directory, name) }
  if (stats.isFile()) yield { ...entry, type: 'file' }
  else if (stats.isSymbolicLink()) {
    const target = await readlink(directory.entryPath(name)).catch(undefinedIfChanged)
    if (target !== undefined && pointsWithin(path, target)) yield { ...entry, type: 'link', target }
  } else if (stats.isDirectory()) {
    if (level > DEPTH_LIMIT) {
      if (!context.skipped) throw new AppError('CONFLICT', tooDeepMessage(path))
      context.skipped.add(tooDeepMessage(path))
      return
    }
    yield { ...entry, type: 'directory' }
    const below = await openSubdirectory(directory, name)
    if (!below) return
    try {
      for await (const child of permittedNamesIn(below, path, context.skipped)) {
        // Non-UTF-8 names are usually Latin-1. Omitting them would lose files that are deleted after archiving.
        const text = typeof child === 'string' ? child : child.toString('latin1')
        if (!isInternalName(text)) yield* walk(below, child, `${path}/${text}`, level + 1, context)
      }
    } finally {
      await below.close()
    }
  }
}

async function* permittedNamesIn(directory: OpenDirectory, path: string, skipped: SkippedEntries | undefined) {
  try {
    yield* namesIn(directory)
  } catch (error) {
    skipForbidden(error, path, skipped)
  }
}

/**
 * The result, or undefined for an entry that the platform may not read, which `skipped` then contains.
 * @throws any other error, and without `skipped` that one, too
 */
export async function unlessForbidden<Result>(
  reading: Promise<Result>,
  path: string,
  skipped: SkippedEntries | undefined,
): Promise<Result | undefined> {
  return reading.catch((error: unknown) => skipForbidden(error, path, skipped))
}

function skipForbidden(error: unknown, path: string, skipped: SkippedEntries | undefined): undefined {
  if (!skipped || !['EACCES', 'EPERM'].includes(errorCodeOf(error) ?? '')) throw error
  skipped.add(`"${truncatedPath(path)}" may not be read: its owner or permissions forbid it.`)
}

/** Omits an entry that is gone, or not a link any more (EINVAL). */
function undefinedIfChanged(error: unknown): undefined {
  if (!['ENOENT', 'EINVAL'].includes(errorCodeOf(error) ?? '')) throw error
}

/** Relative, and within the first directory of `path`. Compares texts; unpacking must check the real target. */
function pointsWithin(path: string, target: string): boolean {
  if (target.startsWith('/') || !path.includes('/')) return false
  const top = path.slice(0, path.indexOf('/'))
  const resolved = relative(top, join(path, '..', target))
  return resolved !== '..' && !resolved.startsWith('../')
}

/** Latest time in milliseconds that all programs read from an archive: the end of 32 bits. */
const MAX_ARCHIVE_TIME = (2 ** 31 - 1) * 1000

/**
 * The modification time of an entry for an archive, from 1970 to 2038. For earlier ones the writer of zips throws, from
 * 2038 on the writer of tars writes others. A file can have any time.
 */
export function archiveTimeOf({ mtimeMs }: Stats): Date {
  return new Date(Math.min(Math.max(mtimeMs, 0), MAX_ARCHIVE_TIME))
}

/** Number of entries, and the size of their files. @param onFile called for each file; may throw */
export async function measureTree(
  directory: OpenDirectory,
  name: string,
  signal?: AbortSignal,
  onFile?: (path: string, stats: Stats) => void,
): Promise<{ entries: number; /** Total size of the files. */ bytes: number }> {
  let entries = 0
  let bytes = 0
  for await (const { type, path, stats } of walkTree(directory, name, signal)) {
    entries += 1
    if (type !== 'file') continue
    onFile?.(path, stats)
    bytes += stats.size
  }
  return { entries, bytes }
}
