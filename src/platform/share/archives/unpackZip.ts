import { isUtf8 } from 'node:buffer'
import type { FileHandle } from 'node:fs/promises'
import { Transform, type Readable } from 'node:stream'
import { promisify } from 'node:util'
import { crc32 } from 'node:zlib'
import { fromFd, type Entry, type ZipFile } from 'yauzl'
import { AppError } from '../../errors'
import {
  entryError,
  damagedError,
  otherReaderError,
  splitError,
  tooLargeError,
  tooManyEntriesError,
  type Extraction,
  type ExtractionLimits,
} from './extraction'
import type { JobControl } from '../transfers/jobs'
import { piped } from '../streams'

/** File types in the upper half of the external attributes of archives made on Unix (APPNOTE 4.4.15, stat(2)). */
const TYPE_MASK = 0o170000
const TYPE_LINK = 0o120000
const TYPE_FILE = 0o100000
/** Info-ZIP gives it to what it reads from standard input: `pg_dump | zip backup.zip -`. */
const TYPE_FIFO = 0o010000
const MADE_BY_UNIX = 3
/** The extra field with a name in UTF-8 (APPNOTE 4.6.9), which yauzl prefers. */
const UNICODE_PATH = 0x7075
/** Compression methods that 7-Zip reads (APPNOTE 4.4.5): Deflate64, BZip2, LZMA, Zstandard, XZ, PPMd. */
const METHODS_OF_SEVEN_ZIP = new Set([9, 12, 14, 93, 95, 98])
/** PATH_MAX of Linux, in bytes. */
const MAX_TARGET_BYTES = 4096

/**
 * Extracts a zip file. Checks the sizes in its headers and its checksums against the extracted content.
 * @throws AppError INVALID_INPUT (damaged, encrypted, leads outside), TOO_LARGE; UNSUPPORTED_MEDIA_TYPE if 7-Zip may
 *   read it: yauzl allows no bytes before or after the zip, and only Store and Deflate
 */
export async function unpackZip(
  archive: FileHandle,
  extraction: Extraction,
  limits: ExtractionLimits,
  { signal, progress }: JobControl,
): Promise<void> {
  const zip = await promisify<ZipFile>((done) =>
    fromFd(archive.fd, { autoClose: false, lazyEntries: true, strictFileNames: true, validateEntrySizes: true }, done),
  )().catch((error: Error) => {
    throw error.message.startsWith('multi-disk') ? splitError() : otherReaderError()
  })
  if (zip.entryCount > limits.entries) throw tooManyEntriesError(limits)
  let done = 0
  let declaredSize = 0
  for await (const entry of entriesOf(zip)) {
    signal.throwIfAborted()
    const { fileName, compressedSize } = entry
    progress({ entry: fileName, done: (done += compressedSize) })
    if ((declaredSize += entry.uncompressedSize) > limits.size) throw tooLargeError(limits)
    if (entry.isEncrypted()) throw entryError(fileName, 'is encrypted')
    const mode = isMadeByUnix(entry) ? entry.externalFileAttributes >>> 16 : 0
    const type = mode & TYPE_MASK
    if (fileName.endsWith('/')) await extraction.directory(fileName)
    else if (type === TYPE_LINK) extraction.link(fileName, await readTarget(zip, entry))
    else if (type === 0 || type === TYPE_FILE || type === TYPE_FIFO)
      await extraction.file(fileName, await contentOf(zip, entry), { mode, mtime: entry.getLastModDate() })
    else throw entryError(fileName, 'is neither a file nor a directory')
  }
}

async function* entriesOf(zip: ZipFile): AsyncGenerator<Entry> {
  for (;;) {
    const entry = await new Promise<Entry | undefined>((resolve, reject) => {
      const settle = () => zip.removeAllListeners('entry').removeAllListeners('end').removeAllListeners('error')
      zip.once('entry', (found: Entry) => (settle(), resolve(found)))
      zip.once('end', () => (settle(), resolve(undefined)))
      zip.once('error', (error: Error) => {
        settle()
        // yauzl rejects unsafe names itself; its message contains the name.
        const name = /^(?:invalid relative path|absolute path|invalid characters in fileName): (.*)$/s.exec(
          error.message,
        )?.[1]
        reject(name === undefined ? otherReaderError() : entryError(name, 'is not a relative path within the archive'))
      })
      zip.readEntry()
    })
    if (!entry) return
    entry.fileName = nameOf(entry)
    yield entry
  }
}

/** macOS and Info-ZIP write names in UTF-8 without marking them, which yauzl reads as those of MS-DOS (CP437). */
function nameOf(entry: Entry): string {
  const { fileName, fileNameRaw, extraFields } = entry
  const isText = isMadeByUnix(entry) && isUtf8(fileNameRaw) && !extraFields.some(({ id }) => id === UNICODE_PATH)
  return isText ? fileNameRaw.toString('utf8') : fileName
}

const isMadeByUnix = ({ versionMadeBy }: Entry) => versionMadeBy >> 8 === MADE_BY_UNIX

async function contentOf(zip: ZipFile, entry: Entry): Promise<Readable> {
  const content = await new Promise<Readable>((resolve, reject) => {
    zip.openReadStream(entry, (error, stream) => {
      if (!error) resolve(stream)
      else if (entry.canDecodeFileData()) reject(damagedError('zip'))
      else if (METHODS_OF_SEVEN_ZIP.has(entry.compressionMethod)) reject(otherReaderError())
      else reject(entryError(entry.fileName, unsupportedMethod(entry.compressionMethod)))
    })
  })
  let sum = 0
  const checked = new Transform({
    transform(chunk: Buffer, _encoding, next) {
      sum = crc32(chunk, sum)
      next(null, chunk)
    },
    flush(next) {
      next(sum === entry.crc32 ? null : entryError(entry.fileName, 'is damaged'))
    },
  })
  content.on('error', () => checked.destroy(entryError(entry.fileName, 'is damaged')))
  return piped(content, checked)
}

const unsupportedMethod = (method: number) =>
  `uses the compression method ${method}, which is not supported: make the zip with Deflate`

async function readTarget(zip: ZipFile, entry: Entry): Promise<string> {
  if (entry.uncompressedSize > MAX_TARGET_BYTES) throw entryError(entry.fileName, 'is a link whose target is too long')
  const chunks: Buffer[] = []
  try {
    for await (const chunk of await contentOf(zip, entry)) chunks.push(chunk as Buffer)
  } catch (error) {
    throw error instanceof AppError ? error : damagedError('zip')
  }
  return Buffer.concat(chunks).toString('utf8')
}
