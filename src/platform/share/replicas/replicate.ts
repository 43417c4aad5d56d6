import { isUtf8 } from 'node:buffer'
import { randomUUID } from 'node:crypto'
import type { Stats } from 'node:fs'
import { mkdir, readlink, realpath, rename, rm, symlink, utimes, type FileHandle } from 'node:fs/promises'
import { basename, isAbsolute, sep } from 'node:path'
import { AppError } from '../../errors'
import { DEPTH_LIMIT, tooDeepMessage } from '../depth'
import {
  withDirectory,
  namesIn,
  openRealDirectory,
  openRegularFile,
  openSubdirectory,
  type OpenDirectory,
  type RawName,
} from '../jail'
import { isDiskFull, throwReadFailure } from '../fileFailure'
import { chunksOf } from '../streams'
import { hasRoomForCopies } from '../disks'
import { createSkippedEntries, type SkippedEntries } from '../skippedEntries'
import { isInternalName, internalName } from '../internalNames'
import { removeTree } from '../changes/removal'
import { copyContents, HOLES_LIMIT, holesOf, tooManyHolesMessage } from './sparseFiles'
import { lstatOf } from '../directoryEntries'
import { realPathThrough } from '../followLinks'

/** File systems store a modification time that is set with microsecond precision at best. */
const isSameFile = (a: Stats, b: Stats) =>
  a.isFile() && b.isFile() && a.size === b.size && a.mode === b.mode && Math.abs(a.mtimeMs - b.mtimeMs) < 1

/**
 * Whether an entry was changed or renamed after its copy was made. No program can choose this time of an entry (ctime).
 * One in the future says nothing, because the clock of a file server may be ahead.
 */
const isChangedSince = (source: Stats, copy: Stats) => source.ctimeMs > copy.ctimeMs && source.ctimeMs <= Date.now() + 1

/** As `isChangedSince`, for directories: the names in them have not changed, so they were probably renamed. */
const isMovedSince = (source: Stats, copy: Stats | undefined) =>
  copy !== undefined && isChangedSince(source, copy) && source.ctimeMs - source.mtimeMs >= 1

export interface ReplicateOptions {
  signal?: AbortSignal | undefined
  /** Collects what is not copied: directories that are too deep, files with too many holes. */
  skipped?: SkippedEntries | undefined
  /**
   * Files of the target that were changed later (ctime, in milliseconds since the epoch) are copied again, however
   * equal they look: another program may have written them. Default: only the platform writes to the target.
   */
  trustedUntil?: number | undefined
  /** Called before a directory's names are read. @param path within the source: empty, or with a trailing slash */
  onDirectory?: (directory: OpenDirectory, path: string) => Promise<void>
}

/**
 * Makes `target` a copy of `source`: copies changed entries (by size and times), removes deleted ones.
 * Replaces each file atomically. Keeps links that stay within `source`; omits other links and special files. Every step
 * is relative to open directories and follows no link.
 * @param source a real path. @param target a directory of the platform.
 * @returns the number of entries that were copied or removed.
 * @throws the signal's reason (finished copies stay); AppError CONFLICT when `source` leads elsewhere by now, or when
 * an entry may not be read; UNAVAILABLE when one does not answer; Node.js errors of the file system about the target
 */
export async function replicate(
  source: string,
  target: string,
  { signal, skipped = createSkippedEntries(), trustedUntil = Infinity, onDirectory }: ReplicateOptions = {},
): Promise<number> {
  const opened = openRealDirectory(source).catch(throwReadFailure(basename(source)))
  return withDirectory(opened, async (root) => {
    await mkdir(target, { recursive: true })
    const context = { root: root.realPath, signal, skipped, trustedUntil, onDirectory, holes: 0 }
    return withDirectory(openRealDirectory(await realpath(target)), (to) =>
      replicateDirectory(root, to, '', 1, context),
    )
  })
}

/** As `namesIn`, with errors that name the directory. @param path as of `replicateDirectory` */
async function* readableNamesIn(from: OpenDirectory, path: string): AsyncGenerator<RawName> {
  const names = namesIn(from)
  try {
    for (;;) {
      const next = await names.next().catch(throwReadFailure(path.slice(0, -1) || basename(from.realPath)))
      if (next.done) return
      yield next.value
    }
  } finally {
    await names.return(undefined)
  }
}

interface ReplicationContext extends Pick<ReplicateOptions, 'onDirectory'> {
  /** Real path of the source. */
  root: string
  signal: AbortSignal | undefined
  skipped: SkippedEntries
  trustedUntil: number
  /** Bytes of holes in the files copied so far. */
  holes: number
}

/**
 * @param path within the source: empty, or with a trailing slash. @param level of its entries, from 1
 * @param isMoved whether the directory may be another one than the target is a copy of: then every file is copied
 */
async function replicateDirectory(
  from: OpenDirectory,
  to: OpenDirectory,
  path: string,
  level: number,
  context: ReplicationContext,
  isMoved = false,
): Promise<number> {
  await context.onDirectory?.(from, path)
  let changes = 0
  const kept = createKept(from)
  for await (const name of readableNamesIn(from, path)) {
    context.signal?.throwIfAborted()
    // An unfinished upload or archive.
    if (typeof name === 'string' && isInternalName(name)) continue
    const pathOfEntry = `${path}${String(name)}`
    const reading = lstatOf(from, name).catch(throwReadFailure(pathOfEntry))
    const [stats, existing] = await Promise.all([reading, lstatOf(to, name)])
    if (stats?.isDirectory()) {
      if (level > DEPTH_LIMIT) {
        context.skipped.add(tooDeepMessage(pathOfEntry))
        changes += await removeCopy(to, name, existing, context.signal)
        continue
      }
      const below = await openSubdirectory(from, name).catch(throwReadFailure(pathOfEntry))
      if (!below) continue
      const isOther = isMoved || isMovedSince(stats, existing)
      changes += await withDirectory(below, (source) =>
        withDirectory(ensureDirectory(to, name, existing), async (target) => {
          const changed = await replicateDirectory(source, target, `${pathOfEntry}/`, level + 1, context, isOther)
          // Otherwise it would count as moved again if no name in it has changed.
          if (isOther) await utimes(target.procPath, Date.now() / 1000, Date.now() / 1000)
          return changed
        }),
      )
    } else if (stats?.isFile()) {
      // Most files are unchanged and need not be opened.
      if (isMoved || !existing || !isUnchanged(stats, existing, context)) {
        const copied = await replicateFile(from, name, to, existing, pathOfEntry, context)
        if (copied === 'skipped') {
          changes += await removeCopy(to, name, existing, context.signal)
          continue
        }
        changes += copied
      }
    } else {
      const target = stats?.isSymbolicLink() ? await targetWithin(context.root, from, name) : undefined
      if (target === undefined) {
        changes += await removeCopy(to, name, existing, context.signal)
        continue
      }
      changes += await replicateLink(target, name, to, existing)
    }
    kept.add(name)
  }
  for await (const name of namesIn(to)) {
    if (await kept.has(name)) continue
    context.signal?.throwIfAborted()
    await removeTree(to, name, context.signal)
    changes += 1
  }
  return changes
}

function isUnchanged(source: Stats, copy: Stats, { trustedUntil }: ReplicationContext): boolean {
  return isSameFile(source, copy) && !isChangedSince(source, copy) && copy.ctimeMs <= trustedUntil
}

/** Removes the copy of an entry that is no longer copied. @returns the number of removed entries */
async function removeCopy(
  to: OpenDirectory,
  name: RawName,
  existing: Stats | undefined,
  signal: AbortSignal | undefined,
): Promise<number> {
  if (existing) await removeTree(to, name, signal)
  return existing ? 1 : 0
}

/** Names held in memory per directory, which may have millions. */
const MAX_REMEMBERED = 10_000

/**
 * The entries of a source that stay in its copy. Beyond MAX_REMEMBERED names, an entry stays if the source has one of
 * its name.
 */
function createKept(from: OpenDirectory) {
  const keyOf = (name: RawName): string => Buffer.from(name).toString('latin1')
  const names = new Set<string>()
  let isComplete = true
  return {
    add(name: RawName): void {
      isComplete &&= names.size < MAX_REMEMBERED
      if (isComplete) names.add(keyOf(name))
    },
    async has(name: RawName): Promise<boolean> {
      if (names.has(keyOf(name))) return true
      return !isComplete && !isInternalName(String(name)) && (await lstatOf(from, name)) !== undefined
    },
  }
}

async function ensureDirectory(to: OpenDirectory, name: RawName, existing: Stats | undefined): Promise<OpenDirectory> {
  if (existing && !existing.isDirectory()) await removeTree(to, name)
  if (!existing?.isDirectory()) {
    await requireRoom(to)
    await mkdir(to.entryPath(name))
  }
  const opened = await openSubdirectory(to, name)
  if (!opened)
    throw new AppError(
      'CONFLICT',
      `"${String(name)}" was replaced by something other than a directory while it was copied.`,
    )
  return opened
}

async function replicateFile(
  from: OpenDirectory,
  name: RawName,
  to: OpenDirectory,
  existing: Stats | undefined,
  pathOfEntry: string,
  context: ReplicationContext,
): Promise<number | 'skipped'> {
  const opened = await openRegularFile(from, name).catch(throwReadFailure(pathOfEntry))
  if (!opened) return 0
  const { handle, stats } = opened
  try {
    const holes = holesOf(stats)
    if (context.holes + holes > HOLES_LIMIT) {
      context.skipped.add(tooManyHolesMessage(pathOfEntry, stats))
      return 'skipped'
    }
    context.holes += holes
    await requireRoom(to)
    if (existing && !existing.isFile()) await removeTree(to, name)
    const unfinished = to.entryPath(internalName(randomUUID()))
    try {
      await copyContents(opened, unfinished, (bytes) => requireRoom(to, bytes)).catch(async (error: unknown) => {
        // libuv does not say which of the two files an error is about.
        if (!isDiskFull(error)) await readAll(handle, stats.size, context.signal).catch(throwReadFailure(pathOfEntry))
        throw error
      })
      // As texts: a Date cannot represent every time of a file, and Node.js replaces negative numbers by the present.
      await utimes(unfinished, String(stats.atimeMs / 1000), String(stats.mtimeMs / 1000))
      await rename(unfinished, to.entryPath(name))
    } finally {
      await rm(unfinished, { force: true })
    }
    return 1
  } finally {
    await handle.close()
  }
}

async function readAll(handle: FileHandle, size: number, signal: AbortSignal | undefined): Promise<void> {
  for await (const _chunk of chunksOf(handle, size)) signal?.throwIfAborted()
}

/**
 * @param bytes that a copy is going to take
 * @throws an error like that of a full disk
 */
async function requireRoom(directory: OpenDirectory, bytes = 0): Promise<void> {
  if (await hasRoomForCopies(directory.procPath, bytes)) return
  throw Object.assign(new Error('The disk has no room for further copies'), { code: 'ENOSPC' })
}

async function replicateLink(
  target: string,
  name: RawName,
  to: OpenDirectory,
  existing: Stats | undefined,
): Promise<number> {
  if (existing?.isSymbolicLink() && target === (await readlink(to.entryPath(name)))) return 0
  await requireRoom(to)
  await removeTree(to, name)
  await symlink(target, to.entryPath(name))
  return 1
}

/**
 * The target of a link that resolves within the root; undefined for other links and for other entries. Relative
 * links only: an absolute one would lead from the copy back to the original.
 */
async function targetWithin(root: string, from: OpenDirectory, name: RawName): Promise<string | undefined> {
  try {
    const bytes = await readlink(from.entryPath(name), { encoding: 'buffer' })
    const target = bytes.toString()
    if (!isUtf8(bytes) || isAbsolute(target)) return undefined
    const isWithin = (path: string) => path === root || path.startsWith(`${root}${sep}`)
    // Links through other directories are left out: whether they resolve would reveal to instances what exists there.
    const path = await realPathThrough(from.procPath, target, isWithin)
    return path !== undefined && isWithin(path) ? target : undefined
  } catch {
    return undefined
  }
}
