import type { FileHandle } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { extract, type Extract, type Header } from 'tar-stream'
import { AppError, errorCodeOf } from '../../errors'
import { entryError, damagedError, tooLargeError, type Extraction, type ExtractionLimits } from './extraction'
import type { JobControl } from '../transfers/jobs'
import { chunksOf } from '../streams'

/** Bytes of one extended header: long names, pax records. */
const HEADER_LIMIT = 64 * 1024
/** Bytes of an entry besides its content: its header, an extended one and the padding of each. */
const ENTRY_BYTES = 4 * 512

/**
 * Extracts a tar file, plain or gzipped.
 * @throws AppError INVALID_INPUT (damaged, a name that leads out, hard links, devices), TOO_LARGE
 */
export async function unpackTar(
  archive: FileHandle,
  isGzipped: boolean,
  extraction: Extraction,
  limits: ExtractionLimits,
  control: JobControl,
): Promise<void> {
  const tar = extractWithBoundedHeaders()
  const content = isGzipped ? gunzip(archive, control) : readWithProgress(archive, control)
  const filled = pipeline(content, limitedBy(limits), tar, { signal: control.signal })
  filled.catch(() => undefined)
  let entries = 0
  try {
    for await (const entry of tar) {
      entries += 1
      // The reader gets its error too. Without a reader, an error without a listener would end the process.
      entry.on('error', () => undefined)
      control.progress({ entry: entry.header.name })
      await unpackEntry(entry.header, entry as unknown as Readable, extraction)
    }
    await filled
  } catch (error) {
    tar.destroy()
    throw asArchiveError(error, isGzipped ? 'gzipped tar' : 'tar')
  }
  if (entries === 0) throw damagedError('tar')
}

/** Accepts headers older than POSIX, which name no format. Their checksums are verified. The types lack this option. */
const OPTIONS: object = { allowUnknownFormat: true }

/**
 * tar-stream reads headers of up to 4 MiB and loops forever on a pax record with a negative length. The check is hooked
 * into its decoder: a second parser could be made to see other headers.
 */
function extractWithBoundedHeaders(): Extract {
  const tar = extract(OPTIONS) as Extract & {
    _decodeLongHeader(bytes: Buffer): void
    _applyLongHeaders(): void
    _header: Omit<Header, 'size'> & { size: number | null }
  }
  const decode = tar._decodeLongHeader.bind(tar)
  tar._decodeLongHeader = (bytes) => {
    if (bytes.length > HEADER_LIMIT)
      throw entryError(tar._header.name, `has a header of more than ${HEADER_LIMIT / 1024} KiB`)
    if (String(tar._header.type).startsWith('pax-') && !isPax(bytes))
      throw entryError(tar._header.name, 'has a header that is damaged')
    decode(bytes)
  }
  const apply = tar._applyLongHeaders.bind(tar)
  tar._applyLongHeaders = () => {
    apply()
    // The reader refuses NaN. With null, for a size that could not be decoded, it would wait forever for the end.
    tar._header.size ??= NaN
  }
  return tar
}

/** Whether a header consists of records `<length> <key>=<value>` (POSIX pax, extended header). */
function isPax(bytes: Buffer): boolean {
  for (let at = 0; at < bytes.length;) {
    const length = Number(/^[1-9]\d{0,6}(?= )/.exec(bytes.toString('latin1', at, at + 8))?.[0])
    if (!(at + length <= bytes.length)) return false
    at += length
  }
  return true
}

/** Extracts the single file of a `.gz`. @param name of that file. */
export async function unpackGzip(
  archive: FileHandle,
  name: string,
  extraction: Extraction,
  control: JobControl,
): Promise<void> {
  try {
    await extraction.file(name, gunzip(archive, control), {})
  } catch (error) {
    throw asArchiveError(error, 'gzip')
  }
}

async function unpackEntry(
  { name, type, mode, mtime, linkname, pax }: Header,
  content: Readable,
  extraction: Extraction,
): Promise<void> {
  // The content is a list of holes, followed by the data between them. Extracted as a plain file, it would be corrupt.
  if (Object.keys(pax ?? {}).some((key) => key.startsWith('GNU.sparse.')))
    throw entryError(name, 'is stored without its holes (GNU sparse format), which is not supported')
  if (type === 'directory') await extraction.directory(name)
  else if (type === 'symlink') extraction.link(name, linkname)
  else if (type === 'file' || type === 'contiguous-file') {
    // Old tar programs mark a directory by a trailing slash only.
    if (name.endsWith('/')) await extraction.directory(name)
    else return extraction.file(name, content, { mode, mtime })
  } else if (type === 'link') throw entryError(name, 'is a hard link')
  else throw entryError(name, 'is neither a file nor a directory')
  content.resume()
}

/**
 * Limits the bytes that are read from a tar file. `createExtraction` counts only the content of entries, but a file may
 * consist of headers without entries, or of trailing zeros, and take days. An instance may append those after the check
 * of the file's size.
 */
function limitedBy(limits: ExtractionLimits) {
  return async function* (content: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    let length = 0
    for await (const chunk of content) {
      length += chunk.length
      if (length > limits.size + limits.entries * ENTRY_BYTES) throw tooLargeError(limits)
      yield chunk
    }
  }
}

/** The content of a gzipped archive, without the padding that may follow. */
function gunzip(archive: FileHandle, control: JobControl): Readable {
  const content = createGunzip()
  // Failures of the pipeline also end the content. That gunzip stops reading at padding is no failure of the archive.
  pipeline(readWithProgress(archive, control), content, { signal: control.signal }).catch(() => undefined)
  return content
}

function readWithProgress(archive: FileHandle, { progress }: JobControl): Readable {
  async function* counted(): AsyncGenerator<Buffer> {
    let done = 0
    for await (const chunk of chunksOf(archive)) {
      progress({ done: (done += chunk.length) })
      yield chunk
    }
  }
  return Readable.from(counted(), { objectMode: false })
}

/** Replaces errors of the libraries about malformed archives with one message. */
function asArchiveError(error: unknown, kind: string): unknown {
  if (error instanceof AppError) return error
  const isOurs = ['ENOSPC', 'EDQUOT', 'EIO', 'ESTALE', 'EACCES', 'EFBIG'].includes(errorCodeOf(error) ?? '')
  return isOurs || (error instanceof Error && error.name === 'AbortError') ? error : damagedError(kind)
}
