import { isUtf8 } from 'node:buffer'
import { constants, type BigIntStats, type Stats } from 'node:fs'
import { lstat, open, opendir, readlink, realpath, type FileHandle } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { AppError, errorCodeOf } from '../errors'
import { fileFailure, missingPath } from './fileFailure'
import { isInternalName } from './internalNames'
import { O_PATH, openBySteps, runAsync, stepCalls, type Passage } from './followLinks'
import { parentAndName, printable, formatPath, type PathSegments } from './apiPath'

/** A name as it is on disk: a buffer when its bytes are not valid UTF-8, which a string cannot represent. */
export type RawName = string | Buffer

/**
 * An open directory of the shared area. Even if its path is swapped in the meantime, `entryPath(name)` stays in this
 * directory: the kernel resolves /proc/self/fd/N to the directory itself, not to its path.
 */
export interface OpenDirectory {
  /** Current path according to the kernel, for watching and logs; never use it for opening. */
  readonly realPath: string
  /** For child processes that inherit it. */
  readonly fd: number
  /** A path to this entry, valid while the directory is open, for calls that do not follow a final symbolic link. */
  entryPath(name: string): string
  entryPath(name: RawName): RawName
  /** A path to the directory itself, valid while it is open. */
  readonly procPath: string
  stats(): Promise<BigIntStats>
  close(): Promise<void>
}

/** A directory that was found by its path in the shared area. */
export interface FoundDirectory extends OpenDirectory {
  /** Real path of the shared area at that time. */
  readonly root: string
}

/** An entry, open but not yet read. */
export interface OpenFile {
  readonly realPath: string
  readonly stats: Stats
  /** Reopens the same file, with these flags of open(2). */
  open(flags: number): Promise<FileHandle>
  close(): Promise<void>
}

/**
 * The only path resolver of the shared area (decisions §3). A path is opened first; then the kernel's path of the
 * descriptor decides whether it is allowed. Links that stay inside work, and no swap between check and use (TOCTOU)
 * leads outside, because the checked descriptor is used. Requires Linux for /proc.
 */
export interface Jail {
  /** Real path of the shared area. @throws AppError UNAVAILABLE while it is not mounted, as every method */
  root(): Promise<string>
  /** @throws AppError NOT_FOUND, CONFLICT (not a directory), NOT_ALLOWED (outside, or an internal file) */
  openDirectory(segments: PathSegments): Promise<FoundDirectory>
  /** Opens an entry and follows links. @throws AppError NOT_FOUND, NOT_ALLOWED (outside, or an internal file) */
  open(segments: PathSegments): Promise<OpenFile>
  /** An entry's parent directory and name. Does not follow a final link. @throws AppError as `openDirectory` */
  openParent(segments: PathSegments, field?: string): Promise<[OpenDirectory, string]>
  /** As `openParent`, but follows a final link, so that a save through a link changes its target. */
  openParentOfTarget(segments: PathSegments, field?: string): Promise<[OpenDirectory, string]>
}

/** The checks of `ShareMarker` before each access. */
interface MountCheck {
  requireAnswer(): Promise<void>
  check(root: OpenDirectory): Promise<void>
}

interface OpenedEntry {
  handle: FileHandle
  realPath: string
  /** Real path of the shared area. */
  root: string
}

/** What the kernel appends to the path of a descriptor whose entry was removed (proc_pid_fd(5)). A name may end so. */
const REMOVED = ' (deleted)'
/** How often an entry is opened that another program replaces meanwhile. */
const MAX_ATTEMPTS = 5

async function isEntryAt(path: string, handle: FileHandle): Promise<boolean> {
  const [found, { dev, ino }] = await Promise.all([lstat(path).catch(() => undefined), handle.stat()])
  return found?.dev === dev && found.ino === ino
}

/**
 * @param shareDir the shared area; need not exist yet.
 * @param marker checks that it is mounted.
 * @param passageIn returns the steps that a path may take, given the real path of the shared area; default: all
 */
export function createJail(shareDir: string, marker?: MountCheck, passageIn?: (root: string) => Passage): Jail {
  async function openRoot(): Promise<OpenDirectory> {
    await marker?.requireAnswer()
    const handle = await open(shareDir, O_PATH | constants.O_DIRECTORY).catch((error: unknown) => {
      // A temporary lack of descriptors says nothing about the mount.
      if (['EMFILE', 'ENFILE'].includes(errorCodeOf(error) ?? '')) throw fileFailure(error, formatPath([]))
      throw new AppError('UNAVAILABLE', 'The shared area does not exist. Check QUARTERDECK_SHARE_DIR, or mount it.')
    })
    try {
      const root = toOpenDirectory(handle, await readlink(`/proc/self/fd/${handle.fd}`))
      await marker?.check(root)
      return root
    } catch (error) {
      await handle.close()
      throw fileFailure(error, formatPath([]))
    }
  }

  const root = () => withDirectory(openRoot(), async ({ realPath }) => realPath)

  /** @throws AppError also NOT_FOUND if the entry is replaced again and again */
  async function openBeneath(segments: PathSegments, flags: number): Promise<OpenedEntry> {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const opened = await openOnce(segments, flags)
      if (opened) return opened
    }
    throw missingPath(segments)
  }

  /** @returns undefined if the entry was removed or replaced meanwhile: the kernel's path is then none of it */
  async function openOnce(segments: PathSegments, flags: number): Promise<OpenedEntry | undefined> {
    // Resolve from the checked root, so that mounting or unmounting over the path has no effect.
    const [rootPath, handle] = await withDirectory(openRoot(), async ({ realPath, procPath }) => {
      const opening = passageIn
        ? openPassing(procPath, segments, flags, passageIn(realPath))
        : open([procPath, ...segments].join('/'), O_PATH | flags)
      const opened = await opening.catch((error: unknown) => {
        throw fileFailure(error, formatPath(segments))
      })
      return [realPath, opened] as const
    })
    try {
      const realPath = await readlink(`/proc/self/fd/${handle.fd}`)
      if (realPath.endsWith(REMOVED) && !(await isEntryAt(realPath, handle))) {
        await handle.close()
        return undefined
      }
      if (realPath !== rootPath && !realPath.startsWith(`${rootPath}/`)) {
        // If the area was unmounted meanwhile, the kernel's path begins at its root, and this fails with that reason.
        await root()
        throw new AppError('NOT_ALLOWED', `${formatPath(segments)} leads out of the shared area.`)
      }
      // `parsePath` rejects these names in paths, but links created on the server can lead to them.
      if (realPath.slice(rootPath.length).split('/').some(isInternalName)) {
        throw new AppError('NOT_ALLOWED', `${printable(formatPath(segments))} leads to a file of the platform itself.`)
      }
      return { handle, realPath, root: rootPath }
    } catch (error) {
      await handle.close()
      throw error
    }
  }

  async function openDirectory(segments: PathSegments): Promise<FoundDirectory> {
    const { handle, realPath, root } = await openBeneath(segments, constants.O_DIRECTORY)
    return { ...toOpenDirectory(handle, realPath), root }
  }

  return {
    root,
    openDirectory,
    async open(segments) {
      const { handle, realPath } = await openBeneath(segments, 0)
      try {
        const stats = await handle.stat()
        return {
          realPath,
          stats,
          open: (flags) => open(`/proc/self/fd/${handle.fd}`, flags),
          close: () => handle.close(),
        }
      } catch (error) {
        await handle.close()
        throw error
      }
    },
    async openParent(segments, field) {
      const [parent, name] = parentAndName(segments, field)
      return [await openDirectory(parent), name]
    },
    async openParentOfTarget(segments, field) {
      const [parent, name] = parentAndName(segments, field)
      const found = await openBeneath(segments, 0).catch((error: unknown) => {
        if (error instanceof AppError && error.code === 'NOT_FOUND') return undefined
        throw error
      })
      if (!found) return [await openDirectory(parent), name]
      await found.handle.close()
      const realSegments = found.realPath
        .slice((await root()).length)
        .split('/')
        .filter(Boolean)
      const [realParent, realName] = parentAndName(realSegments, field)
      return [await openDirectory(realParent), realName]
    },
  }
}

/**
 * Opens a path if the passage allows each of its steps. @throws what the passage throws; Node.js errors of the file
 * system
 */
async function openPassing(from: string, segments: PathSegments, flags: number, passage: Passage): Promise<FileHandle> {
  const found = await runAsync(openBySteps(stepCalls, from, segments, passage))
  if (flags === 0) return found
  try {
    return await open(`${stepCalls.procPath(found)}/.`, O_PATH | flags)
  } finally {
    await found.close()
  }
}

function toOpenDirectory(handle: FileHandle, realPath: string): OpenDirectory {
  const procPath = `/proc/self/fd/${handle.fd}`
  function entryPath(name: string): string
  function entryPath(name: RawName): RawName
  function entryPath(name: RawName): RawName {
    return typeof name === 'string' ? `${procPath}/${name}` : Buffer.concat([Buffer.from(`${procPath}/`), name])
  }
  return {
    realPath,
    fd: handle.fd,
    procPath,
    entryPath,
    stats: () => handle.stat({ bigint: true }),
    close: () => handle.close(),
  }
}

/**
 * Opens a directory by a real path that was resolved earlier.
 * @throws AppError CONFLICT when the path now leads elsewhere; Node.js errors of the file system
 */
export async function openRealDirectory(realPath: string): Promise<OpenDirectory> {
  const handle = await open(realPath, O_PATH | constants.O_DIRECTORY)
  try {
    if ((await readlink(`/proc/self/fd/${handle.fd}`)) !== realPath)
      throw new AppError('CONFLICT', 'The directory was replaced by a link that leads elsewhere.')
    return toOpenDirectory(handle, realPath)
  } catch (error) {
    await handle.close()
    throw error
  }
}

/**
 * Opens a directory of the platform that must not be a link: an instance may have replaced one in the shared area.
 * @throws AppError CONFLICT when it is a link; Node.js errors of the file system
 */
export async function openOwnDirectory(path: string): Promise<OpenDirectory> {
  return openRealDirectory(join(await realpath(dirname(path)), basename(path)))
}

/**
 * Opens a subdirectory by name, never through a link.
 * @returns undefined if it is gone or not a directory (any more).
 */
export async function openSubdirectory(directory: OpenDirectory, name: RawName): Promise<OpenDirectory | undefined> {
  try {
    const handle = await open(directory.entryPath(name), O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW)
    return toOpenDirectory(handle, `${directory.realPath}/${String(name)}`)
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'ELOOP'].includes(errorCodeOf(error) ?? '')) return undefined
    throw error
  }
}

/**
 * Opens a regular file by name for reading, never through a link and without blocking on a FIFO.
 * @returns undefined if it is gone or not a regular file.
 */
export async function openRegularFile(
  directory: OpenDirectory,
  name: RawName,
): Promise<{ handle: FileHandle; stats: Stats } | undefined> {
  const handle = await open(
    directory.entryPath(name),
    constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK,
  ).catch((error: unknown) => {
    if (['ENOENT', 'ELOOP', 'ENXIO', 'ENODEV', 'ENOTDIR'].includes(errorCodeOf(error) ?? '')) return undefined
    throw error
  })
  if (!handle) return undefined
  const stats = await handle.stat().catch(async (error: unknown) => {
    await handle.close()
    throw error
  })
  if (stats.isFile()) return { handle, stats }
  await handle.close()
  return undefined
}

/** Names that are held at a time: an instance can create millions of them. */
const NAMES_PER_READ = 1000

/**
 * Yields the names of all entries, in no particular order. Holds a descriptor between two names only if there are a
 * thousand or more.
 */
export async function* namesIn({ procPath }: OpenDirectory): AsyncGenerator<RawName> {
  // Node.js returns buffers for this encoding, although the types say string.
  const directory = await opendir(procPath, { encoding: 'buffer' as BufferEncoding, bufferSize: NAMES_PER_READ })
  let isOpen = true
  try {
    while (isOpen) {
      const names: RawName[] = []
      while (isOpen && names.length < NAMES_PER_READ) {
        const bytes = (await directory.read())?.name as Buffer | undefined
        if (bytes) names.push(isUtf8(bytes) ? bytes.toString() : bytes)
        else {
          isOpen = false
          await directory.close()
        }
      }
      yield* names
    }
  } finally {
    if (isOpen) await directory.close()
  }
}

/** Passes the directory to `use` and closes it afterwards, also after a failure. */
export async function withDirectory<Directory extends OpenDirectory, Result>(
  opened: Directory | Promise<Directory>,
  use: (directory: Directory) => Promise<Result>,
): Promise<Result> {
  const directory = await opened
  try {
    return await use(directory)
  } finally {
    await directory.close()
  }
}

/** As `withDirectory`, for an entry and the directory it is in. */
export async function withParent<Result>(
  opened: Promise<[OpenDirectory, string]>,
  use: (directory: OpenDirectory, name: string) => Promise<Result>,
): Promise<Result> {
  const [directory, name] = await opened
  try {
    return await use(directory, name)
  } finally {
    await directory.close()
  }
}

/** Opens a directory that this process inherited as a descriptor. */
export async function openInheritedDirectory(fd: number): Promise<OpenDirectory> {
  const handle = await open(`/proc/self/fd/${fd}`, O_PATH | constants.O_DIRECTORY)
  return toOpenDirectory(handle, await readlink(`/proc/self/fd/${handle.fd}`))
}
