import type { FileHandle } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { extract, type Header } from 'tar-stream'
import { AppError, errorCodeOf } from '../errors'
import { badEntry, damaged, type Extraction } from './extraction'
import type { JobControl } from './jobs'
import { chunksOf } from './streams'

/**
 * Extracts a tar file, plain or gzipped.
 * @throws AppError INVALID_INPUT (damaged, a name that leads out, hard links, devices), TOO_LARGE
 */
export async function unpackTar(archive: FileHandle, isGzipped: boolean, extraction: Extraction, control: JobControl): Promise<void> {
  const tar = extract()
  const source = reading(archive, control)
  const filled = isGzipped ? pipeline(source, createGunzip(), tar, { signal: control.signal }) : pipeline(source, tar, { signal: control.signal })
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

/** Extracts the one file of a `.gz`. @param name of that file. */
export async function unpackGzip(archive: FileHandle, name: string, extraction: Extraction, control: JobControl): Promise<void> {
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

async function unpackEntry({ name, type, mode, mtime, linkname }: Header, content: Readable, extraction: Extraction): Promise<void> {
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
