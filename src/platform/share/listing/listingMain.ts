import { isUtf8 } from 'node:buffer'
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  opendirSync,
  openSync,
  readdirSync,
  readlinkSync,
  readSync,
  type Dirent,
  type Stats,
} from 'node:fs'
import type { FileEntry } from '../../../contract/file'
import { looksLikeText, TEXT_LIMIT, TEXT_SAMPLE } from '../textEncodings'
import { onLines } from './lines'
import { BUCKETS, bucketOf, LONG, shareOf, type ListingAnswer, type ListingTask } from './listingTask'
import { isInternalName } from '../internalNames'

const O_PATH = 0o10000000
/** Entries are put together in pieces of about so many characters: a string of all of them may be longer than a string can be. */
const PIECE = 2 ** 18
/** How many files' isText is remembered. */
const REMEMBERED = 200_000

/** What was decided, and of which state of a file. */
type Decision = { size: number; mtimeMs: number; ctimeMs: number; isText: boolean }
/** By device, and there by inode: to make one key of both for each file would take a tenth of a listing's time. */
const decided = new Map<number, Map<number, Decision>>()
/** Whether the kernel tells whoever watches the directory of every change to what is being listed. */
let isTold = true
/** Whether the file before had not been judged yet: the next one has not either, most likely. */
let expectsNew = false
const sample = Buffer.alloc(TEXT_SAMPLE)

/**
 * A process of its own that lists directories: each line it reads is a task, and is answered by a line of JSON and as many bytes as
 * that says. It makes each directory its own before it reads it, so that a name alone is the path: that takes half the time of a
 * thread of the platform, which would have to name the held directory with every file.
 */
// Synchronous calls: here nobody waits but this listing, and they take a third of the time.
onLines(process.stdin, (line) => {
  const task = JSON.parse(line) as ListingTask
  const { json = [], ...answer } = answerTo(task)
  process.stdout.cork()
  process.stdout.write(
    `${JSON.stringify({ ...answer, id: task.id, pieces: json.map(lengthOf) } satisfies ListingAnswer)}\n`,
  )
  for (const buffer of json.flat()) process.stdout.write(buffer)
  process.stdout.uncork()
})

/** Its parts are one after the other. */
type Piece = Buffer[]
type Answer = Omit<ListingAnswer, 'id' | 'pieces'> & { json?: Piece[] }

const lengthOf = (piece: Piece): number => piece.reduce((sum, { length }) => sum + length, 0)

function answerTo(task: ListingTask): Answer {
  try {
    process.chdir(`/proc/${task.pid}/fd/${task.fd}`)
    return list(task)
  } catch (error) {
    return { error: { code: (error as NodeJS.ErrnoException).code, message: String(error) } }
  } finally {
    // Nobody is kept from removing or unmounting it.
    process.chdir('/')
  }
}

function list({ path, root, share, limit, names, isDivided = false }: ListingTask): Answer {
  isTold = true
  expectsNew = false
  if (names) {
    const entries = names.map((name) =>
      isInternalName(name) ? undefined : entryOf(name, false, `${path}/${name}`, root),
    )
    return {
      json: entries.map((entry) => (entry ? [Buffer.from(JSON.stringify(entry))] : [])),
      isTold,
      count: entries.filter(Boolean).length,
    }
  }
  const found = share ? entriesHere() : [...firstOf(entriesHere(), LONG + 1)]
  if (Array.isArray(found) && found.length > LONG) return { isTooLong: true }
  const json = createJoin(limit, isDivided ? BUCKETS : 1)
  /** Names that are, or may be, what is left of others: whether there is an entry that is called so. */
  const doubtful = new Map<string, boolean>()
  for (const dirent of found) {
    const { name } = dirent
    const bucket = share || isDivided ? bucketOf(name) : 0
    if (isInternalName(name) || doubtful.has(name) || (share && shareOf(bucket, share.of) !== share.number)) continue
    const entry = entryOf(name, expectsNew && dirent.isFile(), `${path}/${name}`, root)
    if (entry) json.add(entry, isDivided ? bucket : 0)
    if (name.includes('\ufffd')) doubtful.set(name, entry !== undefined)
    if (json.isFull()) return { isTooLarge: true }
  }
  const missing = new Set([...doubtful.keys()].filter((name) => !doubtful.get(name)))
  for (const entry of missing.size > 0 ? unreadable(missing, path) : [])
    json.add(entry, isDivided ? bucketOf(entry.name) : 0)
  return json.end()
}

/** One by one: of a directory without end no more is read than is wanted. */
function* entriesHere(): Generator<Dirent> {
  const directory = opendirSync('.', { bufferSize: 1024 })
  try {
    for (let dirent; (dirent = directory.readSync());) yield dirent
  } finally {
    directory.closeSync()
  }
}

function* firstOf<Item>(items: Iterable<Item>, most: number): Generator<Item> {
  let count = 0
  for (const item of items) {
    yield item
    if ((count += 1) === most) return
  }
}

/** Puts entries together, as JSON with commas between them, in so many pieces. */
function createJoin(limit: number, count: number) {
  const open = Array.from({ length: count }, () => ({ done: [] as Piece, texts: [] as string[], length: 0 }))
  let entries = 0
  /** Of all, in bytes; in characters of what is not put yet. */
  let length = 0
  const put = (piece: (typeof open)[number]) => {
    if (piece.texts.length === 0) return
    const text = Buffer.from(`${piece.done.length > 0 ? ',' : ''}${piece.texts.join(',')}`)
    piece.done.push(text)
    length += text.length - piece.length
    piece.texts = []
    piece.length = 0
  }
  return {
    add(entry: FileEntry, at: number) {
      const piece = open[at]!
      const text = JSON.stringify(entry)
      piece.texts.push(text)
      piece.length += text.length
      length += text.length
      entries += 1
      if (piece.length > PIECE) put(piece)
    },
    isFull: () => length > limit,
    end(): Answer {
      for (const piece of open) put(piece)
      return length > limit ? { isTooLarge: true } : { isTold, count: entries, json: open.map(({ done }) => done) }
    },
  }
}

/**
 * Names that are no UTF-8, from the time before it, cannot be asked for by a path of the wire. They are listed by what of them can be
 * read, each such text once, so that somebody knows of them.
 */
function* unreadable(texts: Set<string>, path: string): Generator<FileEntry> {
  for (const bytes of readdirSync('.', { encoding: 'buffer' })) {
    if (isUtf8(bytes) || !texts.delete(bytes.toString())) continue
    const stats = lstatSync(bytes, { throwIfNoEntry: false })
    if (!stats) continue
    const name = bytes.toString()
    const type = stats.isDirectory() ? 'd' : '-'
    yield {
      name,
      path: `${path}/${name}`,
      type,
      size: type === 'd' ? 0 : stats.size,
      modifyTime: Math.floor(stats.mtimeMs),
      isText: false,
    }
  }
}

/** Its name is its first field and isText its last, by which it is found again (see withChanges). @param isNew a file whose isText is not known, most likely. */
function entryOf(name: string, isNew: boolean, path: string, root: string): FileEntry | undefined {
  const opened = isNew ? judgeNew(name) : undefined
  let stats = opened ?? lstatSync(name, { throwIfNoEntry: false })
  // Gone since the names were read.
  if (!stats) return undefined
  // Not of what happens within a directory, behind a link, or to a file under another of its names.
  if (stats.nlink > 1 || !stats.isFile()) isTold = false
  let type: FileEntry['type'] = stats.isDirectory() ? 'd' : '-'
  let isText = false
  if (stats.isSymbolicLink()) {
    const target = targetOf(name, root)
    if (target) [stats, type] = [target, target.isDirectory() ? 'd' : '-']
    else type = 'l'
  }
  if (type === '-' && stats.isFile()) isText = isTextOf(stats, () => readsAsText(name))
  return { name, path, type, size: type === 'd' ? 0 : stats.size, modifyTime: Math.floor(stats.mtimeMs), isText }
}

/** Of a link that leads to something within the shared area. */
function targetOf(name: string, root: string): Stats | undefined {
  return withOpened(name, O_PATH, (descriptor) => {
    const real = readlinkSync(`/proc/self/fd/${descriptor}`)
    return real === root || real.startsWith(`${root}/`) ? fstatSync(descriptor) : undefined
  })
}

/** @param read what the file's first bytes say, asked only where they are not known. */
function isTextOf({ dev, ino, size, mtimeMs, ctimeMs }: Stats, read: () => boolean): boolean {
  if (size === 0) return true
  if (size > TEXT_LIMIT) return false
  const files = decided.get(dev) ?? new Map<number, Decision>()
  const known = files.get(ino)
  expectsNew = known?.size !== size || known.mtimeMs !== mtimeMs || known.ctimeMs !== ctimeMs
  if (known && !expectsNew) return known.isText
  const isText = read()
  decided.set(dev, files.set(ino, { size, mtimeMs, ctimeMs, isText }))
  forgetSome()
  return isText
}

/** Where too many files are remembered: the oldest ones of the device that has the most. */
function forgetSome(): void {
  const devices = [...decided.values()]
  if (devices.reduce((sum, { size }) => sum + size, 0) <= REMEMBERED) return
  const files = devices.reduce((most, some) => (some.size > most.size ? some : most))
  for (const oldest of [...files.keys()].slice(0, Math.ceil(files.size / 4))) files.delete(oldest)
}

/** Opens first and asks then, which walks the path once. @returns nothing where that cannot be: the other way will tell. */
function judgeNew(name: string): Stats | undefined {
  return withOpened(name, constants.O_NOFOLLOW, (descriptor) => {
    const stats = fstatSync(descriptor)
    if (!stats.isFile()) return undefined
    isTextOf(stats, () => sampleIsText(descriptor))
    return stats
  })
}

/** The target of a link is read too: it was found inside, and at worst eight kilobytes are judged, not shown. */
function readsAsText(name: string): boolean {
  return withOpened(name, 0, (descriptor) => fstatSync(descriptor).isFile() && sampleIsText(descriptor)) ?? false
}

const sampleIsText = (descriptor: number): boolean =>
  looksLikeText(sample.subarray(0, readSync(descriptor, sample, 0, TEXT_SAMPLE, 0)))

function withOpened<T>(name: string, flags: number, use: (descriptor: number) => T): T | undefined {
  let descriptor: number | undefined
  try {
    descriptor = openSync(name, constants.O_RDONLY | constants.O_NONBLOCK | flags)
    return use(descriptor)
  } catch {
    return undefined
  } finally {
    if (descriptor !== undefined) closeSync(descriptor)
  }
}
