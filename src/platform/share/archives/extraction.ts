import { mkdir, symlink, unlink, type FileHandle } from 'node:fs/promises'
import { join, normalize } from 'node:path/posix'
import { Readable } from 'node:stream'
import { AppError, errorCodeOf } from '../../errors'
import { MAX_NAME_BYTES } from '../apiPath'
import { DEPTH_LIMIT, truncatedPath } from '../depth'
import { openSubdirectory, type OpenDirectory } from '../jail'
import { writeStream } from '../streams'
import { isInternalName } from '../internalNames'
import { createFile } from '../directoryEntries'

/** Upper bounds of the extracted content. */
export interface ExtractionLimits {
  /** Files, links and directories, including directories that only appear in paths of other entries. */
  entries: number
  /** Total of all files, in bytes. */
  size: number
}

/** Archives may always become this large, in bytes, whatever their ratio. */
const SIZE_FLOOR = 256 * 2 ** 20
/** Maximum expansion ratio of larger archives. */
const MAX_RATIO = 200
/** Directories that are kept open at the same time. */
const MAX_OPEN_DIRECTORIES = 64

/** The limits for an archive. @param archiveSize bytes */
export function limitsFor(archiveSize: number): ExtractionLimits {
  return { entries: 500_000, size: Math.max(SIZE_FLOOR, archiveSize * MAX_RATIO) }
}

/**
 * Writes archive entries into an empty directory only. A name that could lead elsewhere rejects the whole archive.
 * Links are created last, so that nothing is written through one. Every method throws AppError INVALID_INPUT or
 * TOO_LARGE.
 */
export interface Extraction {
  directory(path: string): Promise<void>
  file(path: string, content: Readable, attributes: { mode?: number; mtime?: Date }): Promise<void>
  /** Rejects targets outside the directory. */
  link(path: string, target: string): void
  /** Creates the links and closes all directories. */
  finish(): Promise<void>
  close(): Promise<void>
}

/** @param root an empty directory, which the caller keeps open */
export function createExtraction(root: OpenDirectory, limits: ExtractionLimits): Extraction {
  const links = new Map<string, string>()
  const directories = createDirectoryCache(root, (path) => links.has(path), countEntry)
  let entries = 0
  let size = 0

  function countEntry(): void {
    entries += 1
    if (entries > limits.entries) throw tooManyEntriesError(limits)
  }

  /** Counts extracted bytes, because headers may claim any size. */
  async function* limited(content: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of content) {
      size += chunk.length
      if (size > limits.size) throw tooLargeError(limits)
      yield chunk
    }
  }

  return {
    async directory(path) {
      if (directories.count() > MAX_OPEN_DIRECTORIES) await directories.close()
      const before = entries
      await directories.open(parseEntryPath(path))
      // `open` counted the directories that it created; an existing one counts as an entry too.
      if (entries === before) countEntry()
    },

    async file(path, content, { mode = 0o644, mtime }) {
      countEntry()
      const segments = parseEntryPath(path)
      const name = segments.at(-1)
      if (name === undefined) throw entryError(path, 'has no name')
      if (directories.count() > MAX_OPEN_DIRECTORIES) await directories.close()
      const directory = await directories.open(segments.slice(0, -1))
      if (links.has(segments.join('/'))) throw entryError(path, 'is a link and a file')
      const fileMode = mode & 0o111 ? 0o755 : 0o644
      const handle = await createOrReplace(directory, name, fileMode, path)
      try {
        await writeStream(Readable.from(limited(content)), handle)
        if (mtime && Number.isFinite(mtime.getTime())) await handle.utimes(mtime, mtime)
      } finally {
        await handle.close()
      }
    },

    link(path, target) {
      countEntry()
      const segments = parseEntryPath(path)
      const resolved = normalize(join(...segments.slice(0, -1), target))
      if (
        segments.length === 0 ||
        target === '' ||
        target.startsWith('/') ||
        target.includes('\0') ||
        resolved === '..' ||
        resolved.startsWith('../') ||
        ascendsAfterName(target)
      ) {
        throw entryError(path, 'is a link that leads out of the archive')
      }
      if (directories.has(segments.join('/'))) throw entryError(path, 'is a directory and a link')
      links.set(segments.join('/'), target)
    },

    async finish() {
      for (const [path, target] of links) {
        const segments = path.split('/')
        const directory = await directories.open(segments.slice(0, -1))
        await symlink(target, directory.entryPath(segments.at(-1) ?? '')).catch(() => {
          throw entryError(path, 'is a link and something else')
        })
      }
      await directories.close()
    },
    close: () => directories.close(),
  }
}

/** The directories of an extraction. Some are kept open, because most entries follow others of the same directory. */
interface DirectoryCache {
  /** Opens or creates a directory. It stays open until `close`. @throws AppError INVALID_INPUT */
  open(segments: string[]): Promise<OpenDirectory>
  has(path: string): boolean
  /** The number of open directories. */
  count(): number
  close(): Promise<void>
}

/** @param onCreated called for each directory that did not exist; may throw */
function createDirectoryCache(
  root: OpenDirectory,
  isLink: (path: string) => boolean,
  onCreated: () => void,
): DirectoryCache {
  const openDirectories = new Map<string, OpenDirectory>()

  async function open(segments: string[]): Promise<OpenDirectory> {
    if (segments.length === 0) return root
    const path = segments.join('/')
    if (segments.length > DEPTH_LIMIT) throw tooDeepError(path)
    const known = openDirectories.get(path)
    if (known) return known
    if (isLink(path)) throw entryError(path, 'is below a link')
    const parent = await open(segments.slice(0, -1))
    const name = segments.at(-1) ?? ''
    // Counts implicit directories too: a few entries with deep paths could create any number of them.
    const isNew = await mkdir(parent.entryPath(name), { mode: 0o755 }).then(() => true, ignoreExisting)
    if (isNew) onCreated()
    const directory = await openSubdirectory(parent, name)
    if (!directory) throw entryError(path, 'is a file and a directory')
    openDirectories.set(path, directory)
    return directory
  }

  return {
    open,
    has: (path) => openDirectories.has(path),
    count: () => openDirectories.size,
    async close() {
      const directories = [...openDirectories.values()]
      openDirectories.clear()
      for (const directory of directories) await directory.close()
    },
  }
}

/**
 * An archive may hold a name twice: the later entry wins. Names that are not UTF-8 may read the same without being so;
 * one of the files would be lost.
 * @param path of the entry
 */
async function createOrReplace(
  directory: OpenDirectory,
  name: string,
  mode: number,
  path: string,
): Promise<FileHandle> {
  return createFile(directory, name, mode).catch(async (error: unknown) => {
    if (errorCodeOf(error) !== 'EEXIST') throw error
    if (path.includes('\uFFFD')) throw entryError(path, 'has the name of another entry, because both are not UTF-8')
    await unlink(directory.entryPath(name)).catch(() => {
      throw entryError(path, 'is a file and a directory')
    })
    return createFile(directory, name, mode)
  })
}

/** Whether `..` follows a name in the target. That name may be a link, so where `..` leads is unknown. */
function ascendsAfterName(target: string): boolean {
  const segments = target.split('/').filter((segment) => segment !== '' && segment !== '.')
  const down = segments.findIndex((segment) => segment !== '..')
  return down !== -1 && segments.includes('..', down)
}

/**
 * Splits the path of an entry. A backslash is part of a name, as an archive of ours may contain it; but what would lead
 * out on Windows is refused, too. @throws AppError INVALID_INPUT when it could refer to a place outside the archive
 */
export function parseEntryPath(path: string): string[] {
  if (path.startsWith('/') || /^[a-z]:[/\\]/i.test(path)) throw entryError(path, 'is not a relative path')
  if (path.includes('\0')) throw entryError(path, 'contains a NUL character')
  const segments = path.split('/').filter((segment) => segment !== '' && segment !== '.')
  if (path.split(/[/\\]/).includes('..')) throw entryError(path, 'leads out of the archive')
  // DEPTH_LIMIT counts directories; a file adds one more name.
  if (segments.length > DEPTH_LIMIT + 1) throw tooDeepError(path)
  if (segments.some((segment) => Buffer.byteLength(segment) > MAX_NAME_BYTES)) throw entryError(path, 'is too long')
  if (segments.some(isInternalName)) throw entryError(path, 'has a name that is reserved for the platform')
  return segments
}

/** The error that rejects the whole archive. @param reason continues the sentence after the entry's name */
export function entryError(path: string, reason: string): AppError {
  return new AppError('INVALID_INPUT', `The archive was not extracted: its entry "${truncatedPath(path)}" ${reason}.`)
}

const tooDeepError = (path: string) => entryError(path, `is more than ${DEPTH_LIMIT} directories deep`)

/** AppError TOO_LARGE for the total size. */
export function tooLargeError({ size }: ExtractionLimits): AppError {
  return new AppError(
    'TOO_LARGE',
    `The archive was not extracted: it would become larger than ${Math.round(size / 2 ** 20)} MiB, the most that is extracted of an archive of this size.`,
  )
}

/** AppError TOO_LARGE for the number of entries. */
export function tooManyEntriesError({ entries }: ExtractionLimits): AppError {
  return new AppError('TOO_LARGE', `The archive was not extracted: it contains more than ${entries} entries.`)
}

/** @param kind the expected format, for the message */
export function damagedError(kind: string): AppError {
  return new AppError('INVALID_INPUT', `The archive was not extracted: it is damaged, or it is not a ${kind} file.`)
}

/** The error for a zip that the first reader cannot read, but 7-Zip may: `createUnpacker` tries it. */
export function otherReaderError(): AppError {
  return new AppError('UNSUPPORTED_MEDIA_TYPE', damagedError('zip').message)
}

/** Whether `otherReaderError` was thrown, also by a child process. */
export const isForOtherReader = (error: unknown) => error instanceof AppError && error.code === 'UNSUPPORTED_MEDIA_TYPE'

/** The error for a part of an archive that was split into several files. */
export function splitError(): AppError {
  return new AppError(
    'INVALID_INPUT',
    'The archive was not extracted: it is one part of a split archive. Join its parts, or pack it again as one file.',
  )
}

function ignoreExisting(error: unknown): false {
  if (errorCodeOf(error) !== 'EEXIST') throw error
  return false
}
