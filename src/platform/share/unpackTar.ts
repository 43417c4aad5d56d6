import type { FileHandle } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { extract, type Extract, type Header } from 'tar-stream'
import { AppError, errorCodeOf } from '../errors'
import { badEntry, damaged, type Extraction } from './extraction'
import type { JobControl } from './jobs'
import { chunksOf } from './streams'

/** Of what a header says beside its block: long names, extended attributes. In bytes. */
const HEADER_LIMIT = 64 * 1024

/**
 * Extracts a tar file, plain or gzipped.
 * @throws AppError INVALID_INPUT (damaged, a name that leads out, hard links, devices), TOO_LARGE
 */
export async function unpackTar(
  archive: FileHandle,
  isGzipped: boolean,
  extraction: Extraction,
  control: JobControl,
): Promise<void> {
  const tar = extractWithBoundedHeaders()
  const source = reading(archive, control)
  const filled = isGzipped
    ? pipeline(source, createGunzip(), tar, { signal: control.signal })
    : pipeline(source, tar, { signal: control.signal })
  filled.catch(() => undefined)
  let entries = 0
  try {
    for await (const entry of tar) {
      entries += 1
      // Who reads it hears of it too; where nobody reads, an error that nobody takes would end the platform.
      entry.on('error', () => undefined)
      control.progress({ entry: entry.header.name })
      await unpackEntry(entry.header, entry as unknown as Readable, extraction)
    }
    await filled
  } catch (error) {
    tar.destroy()
    throw readable(error, isGzipped ? 'gzipped tar' : 'tar')
  }
  if (entries === 0) throw damaged('tar')
}

/**
 * tar-stream reads headers of up to 4 MiB, any number of them, and never ends with one whose record has a negative length. So what it
 * is about to decode is judged first, where it does that: who looked for headers beside it could be made to see others.
 */
function extractWithBoundedHeaders(): Extract {
  const tar = extract() as Extract & { _decodeLongHeader(bytes: Buffer): void; _header: Header }
  const decode = tar._decodeLongHeader.bind(tar)
  tar._decodeLongHeader = (bytes) => {
    if (bytes.length > HEADER_LIMIT)
      throw badEntry(tar._header.name, `has a header of more than ${HEADER_LIMIT / 1024} KiB`)
    if (String(tar._header.type).startsWith('pax-') && !isPax(bytes))
      throw badEntry(tar._header.name, 'has a header that is damaged')
    decode(bytes)
  }
  return tar
}

/** Whether a header is records of `<length> <key>=<value>`, as POSIX has them (pax, extended header). */
function isPax(bytes: Buffer): boolean {
  for (let at = 0; at < bytes.length;) {
    const length = Number(/^[1-9]\d{0,6}(?= )/.exec(bytes.toString('latin1', at, at + 8))?.[0])
    if (!(at + length <= bytes.length)) return false
    at += length
  }
  return true
}

/** Extracts the one file of a `.gz`. @param name of that file. */
export async function unpackGzip(
  archive: FileHandle,
  name: string,
  extraction: Extraction,
  control: JobControl,
): Promise<void> {
  const gunzip = createGunzip()
  const filled = pipeline(reading(archive, control), gunzip, { signal: control.signal })
  filled.catch(() => undefined)
  try {
    await extraction.file(name, gunzip, {})
    await filled
  } catch (error) {
    throw readable(error, 'gzip')
  }
}

async function unpackEntry(
  { name, type, mode, mtime, linkname }: Header,
  content: Readable,
  extraction: Extraction,
): Promise<void> {
  if (type === 'directory') await extraction.directory(name)
  else if (type === 'symlink') extraction.link(name, linkname)
  else if (type === 'file' || type === 'contiguous-file') {
    // An old way to write a directory.
    if (name.endsWith('/')) await extraction.directory(name)
    else return extraction.file(name, content, { mode, mtime })
  } else if (type === 'link') throw badEntry(name, 'is a hard link')
  else throw badEntry(name, 'is neither a file nor a directory')
  content.resume()
}

function reading(archive: FileHandle, { progress }: JobControl): Readable {
  async function* counted(): AsyncGenerator<Buffer> {
    let done = 0
    for await (const chunk of chunksOf(archive)) {
      progress({ done: (done += chunk.length) })
      yield chunk
    }
  }
  return Readable.from(counted(), { objectMode: false })
}

/** What the libraries say of a file that is not what its name promises, in one text for people. */
function readable(error: unknown, kind: string): unknown {
  if (error instanceof AppError) return error
  const isOurs = ['ENOSPC', 'EDQUOT', 'EIO', 'ESTALE', 'EACCES', 'EFBIG'].includes(errorCodeOf(error) ?? '')
  return isOurs || (error instanceof Error && error.name === 'AbortError') ? error : damaged(kind)
}
