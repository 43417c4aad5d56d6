import { isUtf8 } from 'node:buffer'
import { constants, type BigIntStats, type Stats } from 'node:fs'
import { open, opendir, readlink, type FileHandle } from 'node:fs/promises'
import { AppError, errorCodeOf } from '../errors'
import { fileFailure } from './fileFailure'
import { isOwnName } from './ownNames'
import type { ShareMarker } from './shareMarker'
import { parentAndName, printable, wirePathOf, type Names } from './wirePath'

/** Opens only the place (open(2)): nothing is read, no FIFO waited for, no device touched. Node.js has no name for it. */
const O_PATH = 0o10000000

/** A name as it is on disk: the bytes where they are no UTF-8, which a text cannot tell. */
export type RawName = string | Buffer

/**
 * A directory of the shared area, held open. Whatever happens to its path meanwhile, `entry(name)` is in this directory: the
 * kernel resolves /proc/self/fd/N to the directory itself, not to its path.
 */
export interface HeldDirectory {
  /** What the kernel calls it now; for watching and messages of the log, never for opening. */
  readonly realPath: string
  /** The number of its descriptor, for whoever reads it by number. */
  readonly fd: number
  /** A path to the entry of this name, good for calls that do not follow a last symbolic link, while this is held. */
  entry(name: string): string
  entry(name: RawName): RawName
  /** A path to the directory itself, good while this is held. */
  readonly self: string
  stats(): Promise<BigIntStats>
  close(): Promise<void>
}

/** One that was found by its path in the shared area. */
export interface FoundDirectory extends HeldDirectory {
  /** The real path of the shared area, as it was then. */
  readonly root: string
}

/** What a name stands for, held open without having been read. */
export interface HeldFile {
  readonly realPath: string
  readonly stats: Stats
  /** Opens what is held itself, with these flags of open(2). */
  open(flags: number): Promise<FileHandle>
  close(): Promise<void>
}

/**
 * The one resolver of the shared area, for every verb (decisions §3). A path is opened first and judged afterwards by where
 * the kernel says the descriptor is: symbolic links that stay inside work, and no swap between a check and a use can lead out,
 * because the use is of the very thing that was checked. Linux only, as /proc is.
 */
export interface Jail {
  /** The real path of the shared area. @throws AppError UNAVAILABLE while it is not there or not mounted, as every other call */
  root(): Promise<string>
  /** @throws AppError NOT_FOUND, CONFLICT (not a directory), NOT_ALLOWED (leads out, or to the platform's own) */
  directory(names: Names): Promise<FoundDirectory>
  /** What is there, links followed. @throws AppError NOT_FOUND, NOT_ALLOWED (leads out, or to the platform's own) */
  follow(names: Names): Promise<HeldFile>
  /** The directory an entry is in, and its name there. A last symbolic link is not followed. @throws AppError as `directory` */
  parent(names: Names, field?: string): Promise<[HeldDirectory, string]>
  /** As `parent`, but of where a last symbolic link leads, so that a save through a link changes what it points at. */
  parentOfTarget(names: Names, field?: string): Promise<[HeldDirectory, string]>
}

/**
 * @param shareDir the shared area; need not exist yet.
 * @param marker what tells whether it is mounted.
 */
export function createJail(shareDir: string, marker?: ShareMarker): Jail {
  async function holdRoot(): Promise<HeldDirectory> {
    const handle = await open(shareDir, O_PATH | constants.O_DIRECTORY).catch((error: unknown) => {
      // A shortage of the moment says nothing of the mount.
      if (['EMFILE', 'ENFILE'].includes(errorCodeOf(error) ?? '')) throw fileFailure(error, wirePathOf([]))
      throw new AppError('UNAVAILABLE', 'The shared area is not there. Check QUARTERDECK_SHARE_DIR, or mount it.')
    })
    try {
      const root = heldDirectory(handle, await readlink(`/proc/self/fd/${handle.fd}`))
      await marker?.check(root)
      return root
    } catch (error) {
      await handle.close()
      throw fileFailure(error, wirePathOf([]))
    }
  }

  const root = () => holding(holdRoot(), async ({ realPath }) => realPath)

  async function hold(names: Names, flags: number): Promise<{ handle: FileHandle; realPath: string; root: string }> {
    // By the root that was checked: what is mounted over it or away from it meanwhile makes no difference.
    const [rootPath, handle] = await holding(holdRoot(), async ({ realPath, self }) => {
      const opened = await open([self, ...names].join('/'), O_PATH | flags).catch((error: unknown) => {
        throw fileFailure(error, wirePathOf(names))
      })
      return [realPath, opened] as const
    })
    try {
      const realPath = await readlink(`/proc/self/fd/${handle.fd}`)
      if (realPath !== rootPath && !realPath.startsWith(`${rootPath}/`)) {
        throw new AppError('NOT_ALLOWED', `${wirePathOf(names)} leads out of the shared area.`)
      }
      // A path cannot name these (`namesOf`), but links made on the server can lead there.
      if (realPath.slice(rootPath.length).split('/').some(isOwnName)) {
        throw new AppError('NOT_ALLOWED', `${printable(wirePathOf(names))} leads to a file of the platform itself.`)
      }
      return { handle, realPath, root: rootPath }
    } catch (error) {
      await handle.close()
      throw error
    }
  }

  async function directory(names: Names): Promise<FoundDirectory> {
    const { handle, realPath, root } = await hold(names, constants.O_DIRECTORY)
    return { ...heldDirectory(handle, realPath), root }
  }

  return {
    root,
    directory,
    async follow(names) {
      const { handle, realPath } = await hold(names, 0)
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
    async parent(names, field) {
      const [above, name] = parentAndName(names, field)
      return [await directory(above), name]
    },
    async parentOfTarget(names, field) {
      const [above, name] = parentAndName(names, field)
      const held = await hold(names, 0).catch((error: unknown) => {
        if (error instanceof AppError && error.code === 'NOT_FOUND') return undefined
        throw error
      })
      if (!held) return [await directory(above), name]
      await held.handle.close()
      const real = held.realPath
        .slice((await root()).length)
        .split('/')
        .filter(Boolean)
      const [realAbove, realName] = parentAndName(real, field)
      return [await directory(realAbove), realName]
    },
  }
}

function heldDirectory(handle: FileHandle, realPath: string): HeldDirectory {
  const self = `/proc/self/fd/${handle.fd}`
  function entry(name: string): string
  function entry(name: RawName): RawName
  function entry(name: RawName): RawName {
    return typeof name === 'string' ? `${self}/${name}` : Buffer.concat([Buffer.from(`${self}/`), name])
  }
  return {
    realPath,
    fd: handle.fd,
    self,
    entry,
    stats: () => handle.stat({ bigint: true }),
    close: () => handle.close(),
  }
}

/**
 * A directory by its real path, where that was found before.
 * @throws AppError CONFLICT when the path leads elsewhere by now; Node.js errors of the file system
 */
export async function openRealDirectory(realPath: string): Promise<HeldDirectory> {
  const handle = await open(realPath, O_PATH | constants.O_DIRECTORY)
  try {
    if ((await readlink(`/proc/self/fd/${handle.fd}`)) !== realPath)
      throw new AppError('CONFLICT', 'The directory was replaced by a link that leads elsewhere.')
    return heldDirectory(handle, realPath)
  } catch (error) {
    await handle.close()
    throw error
  }
}

/**
 * The directory of this name in a held one, never through a link.
 * @returns undefined when it is gone or is no directory (any more).
 */
export async function openSubdirectory(directory: HeldDirectory, name: RawName): Promise<HeldDirectory | undefined> {
  try {
    const handle = await open(directory.entry(name), O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW)
    return heldDirectory(handle, `${directory.realPath}/${String(name)}`)
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'ELOOP'].includes(errorCodeOf(error) ?? '')) return undefined
    throw error
  }
}

/**
 * Opens the regular file of this name in a held directory for reading, never through a link, and never waits for a FIFO.
 * @returns undefined when it is gone or is no regular file.
 */
export async function openRegularFile(
  directory: HeldDirectory,
  name: RawName,
): Promise<{ handle: FileHandle; stats: Stats } | undefined> {
  const handle = await open(
    directory.entry(name),
    constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK,
  ).catch((error: unknown) => {
    if (['ENOENT', 'ELOOP', 'ENXIO', 'ENODEV', 'ENOTDIR'].includes(errorCodeOf(error) ?? '')) return undefined
    throw error
  })
  const stats = await handle?.stat()
  if (handle && stats?.isFile()) return { handle, stats }
  await handle?.close()
  return undefined
}

/** Names that are read at a time: an instance can make a directory of millions, and to read it in one piece would hold up everything else. */
const NAMES_AT_ONCE = 1000

/** All that a directory holds, in no order. */
export async function namesIn({ self }: HeldDirectory): Promise<RawName[]> {
  const names: RawName[] = []
  // Node.js gives the names as buffers then, whatever the types say.
  const directory = await opendir(self, { encoding: 'buffer' as BufferEncoding, bufferSize: NAMES_AT_ONCE })
  for await (const { name } of directory) {
    const bytes = name as unknown as Buffer
    names.push(isUtf8(bytes) ? bytes.toString() : bytes)
  }
  return names
}

/** Gives the directory to `use` and closes it whatever happens. */
export async function holding<Held extends HeldDirectory, Result>(
  opening: Promise<Held>,
  use: (directory: Held) => Promise<Result>,
): Promise<Result> {
  const directory = await opening
  try {
    return await use(directory)
  } finally {
    await directory.close()
  }
}

/** As `holding`, for an entry and the directory it is in. */
export async function holdingParent<Result>(
  opening: Promise<[HeldDirectory, string]>,
  use: (directory: HeldDirectory, name: string) => Promise<Result>,
): Promise<Result> {
  const [directory, name] = await opening
  try {
    return await use(directory, name)
  } finally {
    await directory.close()
  }
}

/** A directory that this process was given as a descriptor, held by another one. */
export async function holdDescriptor(fd: number): Promise<HeldDirectory> {
  const handle = await open(`/proc/self/fd/${fd}`, O_PATH | constants.O_DIRECTORY)
  return heldDirectory(handle, await readlink(`/proc/self/fd/${handle.fd}`))
}
