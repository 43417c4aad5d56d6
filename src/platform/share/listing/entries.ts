import { isUtf8 } from 'node:buffer'
import { closeSync, constants, fstatSync, lstatSync, opendirSync, openSync, readlinkSync, readSync } from 'node:fs'
import type { PathLike, Stats } from 'node:fs'
import type { FileEntry } from '../../../contract/file'
import { AppError, errorCodeOf } from '../../errors'
import { passageOf, type Reach } from '../reach'
import { isInternalName } from '../internalNames'
import type { RawName } from '../jail'
import { O_PATH, openBySteps, runSync, type StepCalls } from '../followLinks'
import { looksLikeText, TEXT_LIMIT, TEXT_SAMPLE } from '../textEncodings'

/** The longest listing, in bytes: half a million entries of the usual length. */
const MAX_BYTES = 64 * 2 ** 20
/** Maximum bytes of JSON of an entry without its name and its path. */
const FIELDS_BYTES = 120
const NAMES_PER_READ = 1024
/** Number of files whose `isText` is remembered. */
const MAX_REMEMBERED = 200_000

/** A directory that the platform holds open. */
export interface ListedDirectory {
  /** `/proc/self/fd/N`, which stays in this directory even if its path is swapped in the meantime. */
  procPath: string
  /** Its path, as the API writes it. */
  path: string
  /** Real path of the shared area. A link that leads out of it is shown without its target. */
  root: string
  /**
   * The part of the shared area that the caller may use; everything else is omitted. Undefined: all.
   * `realPath` is the directory's, below the shared area.
   */
  within?: { reach: Reach; realPath: string } | undefined
}

export interface ListedEntry extends FileEntry {
  /** Whether inotify on the directory reports every change of this entry. Not part of the response. */
  isReported: boolean
}

type TextDecision = Pick<Stats, 'dev' | 'size' | 'ctimeMs'> & { isText: boolean }

/** By inode, oldest first, because reading a sample takes longer than the rest of an entry. */
const textDecisions = new Map<number, TextDecision>()
const sample = Buffer.alloc(TEXT_SAMPLE)

/**
 * Reads a directory, without the platform's own files. Its system calls are synchronous, which takes a third of the
 * time. Use it only in a thread of its own.
 * @throws AppError TOO_LARGE; Node.js errors of the file system
 */
export function readEntries(directory: ListedDirectory): Map<string, ListedEntry> {
  const entries = new Map<string, ListedEntry>()
  const pathBytes = jsonBytes(directory.path)
  let bytes = 0
  for (const rawName of namesIn(directory)) {
    const name = rawName.toString()
    bytes += pathBytes + 2 * jsonBytes(name) + FIELDS_BYTES
    if (bytes > MAX_BYTES) {
      throw new AppError(
        'TOO_LARGE',
        `This directory holds more than can be listed: its entries would take more than ${MAX_BYTES / 2 ** 20} MiB. Divide it into several on the server.`,
      )
    }
    // Names that are not UTF-8, which no path of the API can express, are listed so that users know of them; only one
    // of several with the same decoded text.
    const isExpressible = isUtf8(rawName)
    if (!isExpressible && entries.has(name)) continue
    const entry = readEntry(directory, isExpressible ? name : rawName)
    if (entry) entries.set(name, entry)
  }
  return entries
}

/**
 * @param rawName a buffer if it is not UTF-8
 * @returns undefined if the entry is gone, or is the platform's own
 * @throws Node.js errors of the file system
 */
export function readEntry(
  { procPath, path, root, within }: ListedDirectory,
  rawName: RawName,
): ListedEntry | undefined {
  const name = rawName.toString()
  const entryPath = entryPathOf(procPath, rawName)
  const isHidden = isInternalName(name) || within?.reach.holds(`${within.realPath}/${name}`) === false
  const own = isHidden ? undefined : statsOf(entryPath)
  if (!own) return undefined
  if (own === 'unreadable') {
    const type = isDirectory(entryPath) ? 'd' : '-'
    return { name, path: `${path}/${name}`, type, size: 0, modifyTime: 0, isText: false, isReported: false }
  }
  const target = own.isSymbolicLink()
    ? readTarget(procPath, rawName, root, within?.reach)
    : { stats: own, isText: isText(entryPath, own, constants.O_NOFOLLOW) }
  const { size, mtimeMs } = target?.stats ?? own
  const type = !target ? 'l' : target.stats.isDirectory() ? 'd' : '-'
  return {
    name,
    path: `${path}/${name}`,
    type,
    size: type === 'd' ? 0 : size,
    modifyTime: Math.floor(mtimeMs),
    // The API has no path to open a file whose name is not UTF-8.
    isText: typeof rawName === 'string' && target?.isText === true,
    // inotify reports no changes within a subdirectory, of a link's target, or of a file under another of its names.
    isReported: own.isFile() && own.nlink === 1,
  }
}

/**
 * A damaged file, or a mount whose server or program is gone, is listed all the same, with its neighbours.
 * @returns undefined if the entry does not exist
 */
function statsOf(path: PathLike): Stats | 'unreadable' | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })
  } catch (error) {
    if (errorCodeOf(error) === 'ENOMEM') throw error
    return 'unreadable'
  }
}

/** Whether an entry whose stats cannot be read is a directory, as far as the kernel says. */
const isDirectory = (path: PathLike): boolean =>
  withDescriptor(
    () => openSync(path, constants.O_DIRECTORY | constants.O_NOFOLLOW | O_PATH),
    () => true,
  ) ?? false

const entryPathOf = (procPath: string, name: RawName): PathLike =>
  typeof name === 'string' ? `${procPath}/${name}` : Buffer.concat([Buffer.from(`${procPath}/`), name])

/** Yields names one by one as bytes, because an instance can create millions of them. */
function* namesIn({ procPath }: ListedDirectory): Generator<Buffer> {
  // Node.js returns buffers for this encoding, although the types say string.
  const directory = opendirSync(procPath, { encoding: 'buffer' as BufferEncoding, bufferSize: NAMES_PER_READ })
  try {
    for (let entry; (entry = directory.readSync());) yield entry.name as unknown as Buffer
  } finally {
    directory.closeSync()
  }
}

/** Reads the target of a link. @returns undefined if the caller may not use it or it does not exist */
function readTarget(
  procPath: string,
  name: RawName,
  root: string,
  reach: Reach | undefined,
): { stats: Stats; isText: boolean } | undefined {
  const open = () => {
    if (!reach?.leadsOn) return openSync(entryPathOf(procPath, name), constants.O_RDONLY | O_PATH)
    // Restricted callers cannot open a name that is not UTF-8, so it need not resolve here.
    return runSync(openBySteps(stepCalls, procPath, [name.toString()], passageOf(reach.leadsOn, root)))
  }
  return withDescriptor(open, (fd) => {
    const realPath = readlinkSync(`/proc/self/fd/${fd}`)
    const isInside = realPath === root || realPath.startsWith(`${root}/`)
    if (!isInside || reach?.holds(realPath.slice(root.length)) === false) return undefined
    const stats = fstatSync(fd)
    return { stats, isText: isText(`/proc/self/fd/${fd}`, stats, 0) }
  })
}

const stepCalls: StepCalls<number> = {
  open: openSync,
  procPath: (fd) => `/proc/self/fd/${fd}`,
  isLink: (fd) => fstatSync(fd).isSymbolicLink(),
  readlink: (path) => readlinkSync(path),
  close: closeSync,
}

/** @param flags for opening, besides reading without waiting: `O_NOFOLLOW` if `path` could become a link meanwhile */
function isText(path: PathLike, stats: Stats, flags: number): boolean {
  const { dev, ino, size, ctimeMs } = stats
  if (!stats.isFile() || size > TEXT_LIMIT) return false
  if (size === 0) return true
  const known = textDecisions.get(ino)
  if (known?.dev === dev && known.size === size && known.ctimeMs === ctimeMs) return known.isText
  // An instance may swap the file meanwhile. It cannot create a device, which would be the only entry that opening
  // could have an effect on; a link to one is not followed.
  const open = () => openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | flags)
  const decision = withDescriptor(open, (fd) => {
    const found = fstatSync(fd)
    if (found.dev !== dev || found.ino !== ino) return false
    return looksLikeText(sample.subarray(0, readSync(fd, sample, 0, TEXT_SAMPLE, 0)))
  })
  const [oldest] = textDecisions.size < MAX_REMEMBERED ? [] : textDecisions.keys()
  if (oldest !== undefined) textDecisions.delete(oldest)
  textDecisions.set(ino, { dev, size, ctimeMs, isText: decision ?? false })
  return decision ?? false
}

/** @returns undefined if the file cannot be read. @throws EMFILE, ENFILE, which say nothing about the file */
function withDescriptor<Result>(open: () => number, use: (fd: number) => Result): Result | undefined {
  let fd: number | undefined
  try {
    fd = open()
    return use(fd)
  } catch (error) {
    if (['EMFILE', 'ENFILE'].includes(errorCodeOf(error) ?? '')) throw error
    return undefined
  } finally {
    if (fd !== undefined) closeSync(fd)
  }
}

const jsonBytes = (text: string): number => Buffer.byteLength(JSON.stringify(text))
