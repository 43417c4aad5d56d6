import { once } from 'node:events'
import { constants, type ReadStream, type Stats } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { PassThrough, type Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { ZipFile } from 'yazl'
import { AppError } from '../errors'
import { fileFailure } from './fileFailure'
import type { HeldDirectory, Jail } from './jail'
import { createLeftOut, type LeftOut } from './leftOut'
import { placeUnderFreeName } from './placing'
import { piped } from './streams'
import { walkTree } from './walk'
import { namesOf, printable, type Names } from './wirePath'

/** A file held open for sending. Its stream, or `close`, ends it. */
export interface OpenedFile {
  /** Its last name. */
  name: string
  /** Bytes. */
  size: number
  /** Milliseconds since the epoch. */
  modifyTime: number
  /** These bytes and no more, both ends included, even if the file grows meanwhile; fewer when it shrinks. */
  stream(start: number, end: number): ReadStream
  close(): Promise<void>
}

export interface Downloads {
  /** @throws AppError NOT_FOUND, NOT_ALLOWED (leads out), CONFLICT (a directory, or no regular file) */
  file(path: string): Promise<OpenedFile>
  /**
   * Files and directories as one zip, made while it is sent: nothing is built up in memory or on disk. A path that is a link is what
   * that points at; links in directories, what leads out of the shared area, FIFOs and devices are left out. What lies too deep is
   * left out as well, and named in a text of its own in the zip.
   * @throws AppError NOT_FOUND when the first look finds one missing; later failures end the stream with an error.
   */
  zip(paths: string[]): Promise<Readable>
}

/** What a text in a zip is called that tells what is missing there. */
const NOT_INCLUDED = 'not-included.txt'
/** Not worth a compressor of its own, of which each takes a quarter of a megabyte. In bytes. */
const TINY = 1024
/** yazl's state of an entry that is written. */
const FILE_DATA_DONE = 3
/** Packed already: trying again only takes time. */
const COMPRESSED = /\.(?:jar|zip|gz|tgz|xz|zst|bz2|7z|rar|mca|mcr|png|jpe?g|webp|gif|mp[34]|ogg|webm|woff2?)$/i

export function createDownloads(jail: Jail): Downloads {
  return {
    async file(path) {
      const names = namesOf(path)
      const held = await jail.follow(names)
      try {
        if (held.stats.isDirectory())
          throw new AppError('CONFLICT', `${printable(path)} is a directory. Download it as an archive.`)
        if (!held.stats.isFile()) throw new AppError('CONFLICT', `${printable(path)} is not a regular file.`)
        return opened(names.at(-1) ?? '', await held.open(constants.O_RDONLY | constants.O_NONBLOCK), held.stats)
      } catch (error) {
        throw fileFailure(error, path)
      } finally {
        await held.close()
      }
    },

    async zip(paths) {
      const wanted = paths.map((path) => namesOf(path, 'files'))
      for (const [at, names] of wanted.entries()) {
        const held = await jail.follow(names).catch((error: unknown) => {
          throw fileFailure(error, paths[at] ?? '')
        })
        await held.close()
      }
      const zip = new ZipFile()
      const output = piped(zip.outputStream as Readable, new PassThrough({ highWaterMark: 2 ** 20 }))
      // yazl reports here what goes wrong with an entry.
      zip.on('error', (error: Error) => output.destroy(error))
      // The reader may go away at any moment, and no file may stay open for it.
      const gone = new AbortController()
      output.once('close', () => gone.abort())
      const done = createDoneEntries(zip)
      fill(zip, jail, wanted, done, gone.signal).then(
        () => (done.restore(), zip.end()),
        (error: Error) => output.destroy(error),
      )
      return output
    },
  }
}

function opened(name: string, handle: FileHandle, { size, mtimeMs }: Stats): OpenedFile {
  return {
    name,
    size,
    modifyTime: Math.floor(mtimeMs),
    stream: (start, end) => handle.createReadStream({ start, end, highWaterMark: 2 ** 18 }),
    close: () => handle.close(),
  }
}

/** What of a yazl entry is needed here. */
interface ZipEntry {
  state: number
  getCentralDirectoryRecord(): Buffer
}

interface DoneEntries {
  /** Call before an entry is added. */
  setAside(): void
  /** Call before the end, which writes the directory of all entries. */
  restore(): void
}

/**
 * For each entry yazl looks for the first one that is not done, from the first of all: for 100,000 entries that is two minutes of CPU time.
 * It also keeps 3 KB of each until the end. So those that are done are taken from its list, and only their records are kept.
 */
function createDoneEntries(zip: ZipFile): DoneEntries {
  const open = zip as ZipFile & { entries: ZipEntry[] }
  const done: Buffer[] = []
  return {
    setAside() {
      while (open.entries[0]?.state === FILE_DATA_DONE) done.push(open.entries.shift()!.getCentralDirectoryRecord())
    },
    restore() {
      open.entries = [
        ...done.map((record) => ({ state: FILE_DATA_DONE, getCentralDirectoryRecord: () => record })),
        ...open.entries,
      ]
    },
  }
}

async function fill(zip: ZipFile, jail: Jail, wanted: Names[], done: DoneEntries, gone: AbortSignal): Promise<void> {
  const taken = new Set<string>()
  const leftOut = createLeftOut()
  for (const names of wanted) {
    const real = await realNamesOf(jail, names)
    if (!real) continue
    const name = real.at(-1) ?? '.'
    const directory = await jail.directory(real.slice(0, -1))
    try {
      // The whole shared area is its entries; anything else is itself below the name it was asked for by.
      await add(zip, directory, name, names.at(-1) ?? '.', { taken, leftOut }, done, gone)
    } finally {
      await directory.close()
    }
  }
  const text = leftOut.text()
  if (text !== undefined) await placeUnderFreeName(NOT_INCLUDED, (name) => addText(zip, name, text, taken))
}

/** @throws AppError NAME_TAKEN */
async function addText(zip: ZipFile, name: string, text: string, taken: Set<string>): Promise<void> {
  if (taken.has(name)) throw new AppError('NAME_TAKEN', `"${name}" exists already.`)
  zip.addBuffer(Buffer.from(`${text}\n`), name)
}

/** @returns where a path leads; undefined when that is gone since the first look, or leads out by now. */
async function realNamesOf(jail: Jail, names: Names): Promise<Names | undefined> {
  const held = await jail.follow(names).catch((error: unknown) => {
    if (error instanceof AppError && (error.code === 'NOT_FOUND' || error.code === 'NOT_ALLOWED')) return undefined
    throw error
  })
  if (!held) return undefined
  await held.close()
  return held.realPath
    .slice((await jail.root()).length)
    .split('/')
    .filter(Boolean)
}

interface Filling {
  /** Paths in the zip so far. */
  taken: Set<string>
  leftOut: LeftOut
}

async function add(
  zip: ZipFile,
  directory: HeldDirectory,
  name: string,
  as: string,
  { taken, leftOut }: Filling,
  done: DoneEntries,
  gone: AbortSignal,
): Promise<void> {
  for await (const entry of walkTree(directory, name, gone, leftOut)) {
    const path = zipName(as + entry.path.slice(name.length))
    if (path === '.' || taken.has(path)) continue
    taken.add(path)
    done.setAside()
    const options = { mtime: entry.stats.mtime, mode: entry.stats.mode }
    if (entry.type === 'directory') zip.addEmptyDirectory(path, options)
    if (entry.type !== 'file') continue
    // The zip keeps an entry until its end, and with it this function: it must not keep the stream as well.
    const open: { stream?: PassThrough } = { stream: new PassThrough({ highWaterMark: 2 ** 18 }) }
    zip.addReadStreamLazy(
      path,
      { ...options, compressionLevel: COMPRESSED.test(path) || entry.stats.size <= TINY ? 0 : 3 },
      (give) => give(null, open.stream!),
    )
    const sent = open.stream!
    const file = await entry.open()
    // Gone since it was listed: it is empty then, its name is told already.
    if (!file || file.stats.size === 0) {
      await file?.handle.close()
      sent.end()
    } else {
      const content = file.handle.createReadStream({ start: 0, end: file.stats.size - 1, highWaterMark: 2 ** 18 })
      await pipeline(content, sent, { signal: gone })
    }
    // Not before it was read to its end: one entry is under way at a time.
    if (!sent.readableEnded) await once(sent, 'end', { signal: gone })
    delete open.stream
  }
}

/** Zip takes a backslash for a separator and a colon for a drive; look-alikes stand for them. */
function zipName(path: string): string {
  return path
    .replace(/^\.\//, '')
    .replaceAll('\\', '＼')
    .replace(/^([a-z]):/i, '$1：')
}
