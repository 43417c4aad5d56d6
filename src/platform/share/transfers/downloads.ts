import { once } from 'node:events'
import { constants, type ReadStream, type Stats } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { PassThrough, type Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { ZipFile } from 'yazl'
import { NOT_INCLUDED_NAME } from '../../../contract/pageRules'
import { AppError } from '../../errors'
import { fileFailure } from '../fileFailure'
import type { OpenDirectory, Jail } from '../jail'
import { truncatedPath } from '../depth'
import { emptyBytesOf, HOLES_LIMIT, tooManyHolesMessage } from '../replicas/sparseFiles'
import { createSkippedEntries, type SkippedEntries } from '../skippedEntries'
import { PERMISSION_BITS } from '../permissions'
import { placeUnderFreeName } from '../changes/placing'
import { piped } from '../streams'
import type { ZipLists } from './zipLists'
import { archiveTimeOf, unlessForbidden, walkTree } from '../walk'
import { formatPath, parsePath, printable, type PathSegments } from '../apiPath'

/** An open file, ready to be sent. Its stream closes it, and so does `close`. */
export interface FileDownload {
  name: string
  /** In bytes. */
  size: number
  /** Milliseconds since the epoch. */
  modifyTime: number
  /** Reads the inclusive range of bytes, even if the file grows during the read; fewer bytes if it shrinks. */
  stream(start: number, end: number): ReadStream
  close(): Promise<void>
}

export interface Downloads {
  /** @throws AppError NOT_FOUND, NOT_ALLOWED (outside the shared area), CONFLICT (a directory, or no regular file) */
  file(path: string): Promise<FileDownload>
  /**
   * Streams files and directories as one zip without buffering it in memory or on disk. A requested link is replaced by
   * its target. Omits links inside directories, targets outside the shared area, FIFOs and devices. Also omits
   * directories that are too deep, files with too many holes, what the platform may not read, and what exceeds the
   * memory for the zip's list, and says so in a text file in the zip.
   * @throws AppError NOT_FOUND, NOT_ALLOWED before the first byte; later failures end the stream with an error.
   */
  zip(userId: number, paths: string[]): Promise<Readable>
}

/** Memory of an entry besides its path, which is held twice. */
const ENTRY_BYTES = 400
/** Of an entry: a zip has 16 bits for the length (APPNOTE 4.4.10), and the paths of directories get a slash. */
const MAX_PATH_BYTES = 65_534
/** Bytes up to which a file is stored uncompressed: each compressor takes a quarter of a megabyte of memory. */
const MAX_STORED_BYTES = 1024
/** yazl's state of an entry that is fully written. */
const FILE_DATA_DONE = 3
/** Already compressed formats: compressing them again only takes time. */
const COMPRESSED = /\.(?:jar|zip|gz|tgz|xz|zst|bz2|7z|rar|mca|mcr|png|jpe?g|webp|gif|mp[34]|ogg|webm|woff2?)$/i

/** @param zipLists shared by all callers */
export function createDownloads(jail: Jail, zipLists: ZipLists): Downloads {
  return {
    async file(path) {
      const segments = parsePath(path)
      const found = await jail.open(segments)
      try {
        if (found.stats.isDirectory())
          throw new AppError('CONFLICT', `${printable(path)} is a directory. Download it as an archive.`)
        if (!found.stats.isFile()) throw new AppError('CONFLICT', `${printable(path)} is not a regular file.`)
        return toFileDownload(
          segments.at(-1) ?? '',
          await found.open(constants.O_RDONLY | constants.O_NONBLOCK),
          found.stats,
        )
      } catch (error) {
        throw fileFailure(error, path)
      } finally {
        await found.close()
      }
    },

    async zip(userId, paths) {
      // Unique paths: opening one that is repeated ten thousand times takes long.
      const requested = new Map(paths.map((path) => [formatPath(parsePath(path, 'files')), path]))
      for (const [path, given] of requested) {
        const found = await jail.open(parsePath(path)).catch((error: unknown) => {
          throw fileFailure(error, given)
        })
        await found.close()
      }
      const zip = new ZipFile()
      const output = piped(zip.outputStream as Readable, new PassThrough({ highWaterMark: 2 ** 20 }))
      // yazl emits errors of entries here.
      zip.on('error', (error: Error) => output.destroy(error))
      // The client may disconnect at any moment; then every open file must be closed.
      const disconnected = new AbortController()
      output.once('close', () => disconnected.abort())
      const doneEntries = createDoneEntries(zip)
      const list = zipLists.begin(userId)
      output.once('close', () => list.end())
      addAll(
        zip,
        jail,
        [...requested.keys()].map((path) => parsePath(path)),
        { doneEntries, hasRoom: (bytes) => list.reserve(bytes) },
        disconnected.signal,
      )
        .then(() => {
          doneEntries.restoreToList()
          zip.end()
        })
        .catch((error: Error) => void output.destroy(error))
      return output
    },
  }
}

function toFileDownload(name: string, handle: FileHandle, { size, mtimeMs }: Stats): FileDownload {
  return {
    name,
    size,
    modifyTime: Math.floor(mtimeMs),
    stream: (start, end) => handle.createReadStream({ start, end, highWaterMark: 2 ** 18 }),
    close: () => handle.close(),
  }
}

/** The part of a yazl entry that is used here. */
interface ZipEntry {
  state: number
  getCentralDirectoryRecord(): Buffer
}

interface DoneEntries {
  /** Call before an entry is added. */
  dropFromList(): void
  /** Call before the end, which writes the directory of all entries. */
  restoreToList(): void
}

/**
 * yazl searches its list from the start for every entry: for 100,000 entries that is two minutes of CPU time. It also
 * keeps 3 KB per entry. Therefore done entries are removed from the list; only their records are kept.
 */
function createDoneEntries(zip: ZipFile): DoneEntries {
  const list = zip as ZipFile & { entries: ZipEntry[] }
  const records: Buffer[] = []
  return {
    dropFromList() {
      while (list.entries[0]?.state === FILE_DATA_DONE) records.push(list.entries.shift()!.getCentralDirectoryRecord())
    },
    restoreToList() {
      list.entries = [
        ...records.map((record) => ({ state: FILE_DATA_DONE, getCentralDirectoryRecord: () => record })),
        ...list.entries,
      ]
    },
  }
}

async function addAll(
  zip: ZipFile,
  jail: Jail,
  requested: PathSegments[],
  { doneEntries, hasRoom }: { doneEntries: DoneEntries } & Pick<ZipContents, 'hasRoom'>,
  disconnected: AbortSignal,
): Promise<void> {
  const contents: ZipContents = { paths: new Set(), hasRoom, holes: 0, skipped: createSkippedEntries() }
  const { paths, skipped } = contents
  for (const segments of requested) {
    const realSegments = await realSegmentsOf(jail, segments)
    if (!realSegments) continue
    const parent = await jail.openDirectory(realSegments.slice(0, -1)).catch(undefinedIfMissing)
    const name = parent ? (realSegments.at(-1) ?? '.') : '.'
    // Its parent is missing, or may not be used by the caller.
    const directory = parent ?? (await jail.openDirectory(realSegments))
    try {
      // Named after the last requested segment. The shared root has none: its children are the top-level entries.
      await addTree(zip, directory, name, segments.at(-1) ?? '.', contents, doneEntries, disconnected)
    } finally {
      await directory.close()
    }
  }
  const text = [contents.end, skipped.summary()].filter(Boolean).join(' ')
  if (text === '') return
  const isTaken = async (name: string) => paths.has(name)
  await placeUnderFreeName(NOT_INCLUDED_NAME, isTaken, async (name) => zip.addBuffer(Buffer.from(`${text}\n`), name))
}

/** Resolves a path to its real names; undefined if it has disappeared since the first check or now leads outside. */
async function realSegmentsOf(jail: Jail, segments: PathSegments): Promise<PathSegments | undefined> {
  const found = await jail.open(segments).catch(undefinedIfMissing)
  if (!found) return undefined
  await found.close()
  return found.realPath
    .slice((await jail.root()).length)
    .split('/')
    .filter(Boolean)
}

function undefinedIfMissing(error: unknown): undefined {
  if (!(error instanceof AppError && (error.code === 'NOT_FOUND' || error.code === 'NOT_ALLOWED'))) throw error
}

interface ZipContents {
  /** Paths in the zip so far. */
  paths: Set<string>
  /** Reserves memory for the zip's list, in bytes. @returns false if too little is left */
  hasRoom: (bytes: number) => boolean
  /** Bytes of holes (of sparse files) in the files so far. */
  holes: number
  /** Why nothing more is added. */
  end?: string
  skipped: SkippedEntries
}

async function addTree(
  zip: ZipFile,
  directory: OpenDirectory,
  name: string,
  as: string,
  contents: ZipContents,
  doneEntries: DoneEntries,
  disconnected: AbortSignal,
): Promise<void> {
  const { paths, skipped, hasRoom } = contents
  for await (const entry of walkTree(directory, name, disconnected, skipped)) {
    const path = zipName(as + entry.path.slice(name.length))
    if (path === '.' || paths.has(path)) continue
    if (contents.end !== undefined) return
    if (Buffer.byteLength(path) > MAX_PATH_BYTES) {
      skipped.add(`"${truncatedPath(path)}" has a path of more than ${MAX_PATH_BYTES} bytes, which no ZIP can contain.`)
      continue
    }
    const holes = entry.type === 'file' ? emptyBytesOf(entry.stats) : 0
    if (contents.holes + holes > HOLES_LIMIT) {
      skipped.add(tooManyHolesMessage(path, entry.stats))
      continue
    }
    contents.holes += holes
    if (!hasRoom(2 * path.length + ENTRY_BYTES)) {
      contents.end = tooManyEntriesMessage(path)
      return
    }
    const file = entry.type === 'file' ? await unlessForbidden(entry.open(), path, skipped) : undefined
    if (entry.type === 'file' && !file) continue
    paths.add(path)
    doneEntries.dropFromList()
    const options = { mtime: archiveTimeOf(entry.stats), mode: entry.stats.mode & (constants.S_IFMT | PERMISSION_BITS) }
    if (entry.type === 'directory') zip.addEmptyDirectory(path, options)
    if (!file) continue
    // yazl keeps the entry and with it this closure until the zip ends. The closure must not keep the stream.
    const open: { stream?: PassThrough } = { stream: new PassThrough({ highWaterMark: 2 ** 18 }) }
    zip.addReadStreamLazy(
      path,
      { ...options, compressionLevel: COMPRESSED.test(path) || entry.stats.size <= MAX_STORED_BYTES ? 0 : 3 },
      (provide) => provide(null, open.stream!),
    )
    const sent = open.stream!
    // An instance may have made it longer since its holes were counted.
    const { size } = emptyBytesOf(file.stats) <= holes ? file.stats : entry.stats
    if (size === 0) {
      await file.handle.close()
      sent.end()
    } else {
      const content = file.handle.createReadStream({ start: 0, end: size - 1, highWaterMark: 2 ** 18 })
      await pipeline(content, sent, { signal: disconnected })
    }
    // Only one entry is in progress at a time, so wait until it is read to its end.
    if (!sent.readableEnded) await once(sent, 'end', { signal: disconnected })
    delete open.stream
  }
}

const tooManyEntriesMessage = (path: string) =>
  `The ZIP ends before "${truncatedPath(path)}", because it has too many entries. Everything after that is missing. Download the directories below one by one, or use Archive.`

/** Zip readers take a backslash for a separator and a colon for a drive; similar characters replace them. */
function zipName(path: string): string {
  return path
    .replace(/^\.\//, '')
    .replaceAll('\\', '＼')
    .replace(/^([a-z]):/i, '$1：')
}
