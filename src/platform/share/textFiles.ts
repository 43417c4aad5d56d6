import { constants, type Stats } from 'node:fs'
import { AppError } from '../errors'
import type { SaveFile, TextEncoding } from '../../contract/file'
import { decode, encode, TEXT_LIMIT } from './textEncodings'
import { fileFailure } from './fileFailure'
import { withParent, type OpenFile, type Jail } from './jail'
import { createKeyedQueue, type KeyedQueue } from '../concurrency/keyedQueue'
import { PERMISSION_BITS, copyOwnerAndMode } from './permissions'
import type { Temporaries } from './changes/temporaries'
import { parsePath, printable } from './apiPath'
import { lstatOf } from './directoryEntries'

export interface TextFile {
  content: string
  encoding: TextEncoding
  /** Whole milliseconds since the epoch. */
  modifyTime: number
}

export interface TextFiles {
  /** @throws AppError NOT_FOUND, CONFLICT (a directory), TOO_LARGE (over 5 MiB), UNSUPPORTED_MEDIA_TYPE (no text) */
  read(path: string): Promise<TextFile>
  /**
   * Creates the file or replaces it atomically; mode and owner stay.
   * @param request a `modifyTime` rejects a file that changed since that time.
   * @returns the new modification time.
   * @throws AppError CONFLICT (changed, gone, or a directory), TOO_LARGE, INVALID_INPUT (not representable), DISK_FULL
   */
  save(request: SaveFile): Promise<number>
}

/** @param saveQueue by real path: saves of the same file run in the order of their requests */
export function createTextFiles(
  jail: Jail,
  temporaries: Temporaries,
  saveQueue: KeyedQueue = createKeyedQueue(),
): TextFiles {
  return {
    async read(path) {
      const file = await jail.open(parsePath(path))
      try {
        checkFile(file.stats, path)
        const bytes = await readAll(file)
        const { text, encoding } = decode(bytes)
        // Refuse a file that would not survive a round trip through the editor unchanged.
        if (text.includes('\0') || !encode(text, encoding)?.equals(bytes)) throw notText(path)
        return { content: text, encoding, modifyTime: wholeMilliseconds(file.stats) }
      } catch (error) {
        throw fileFailure(error, path)
      } finally {
        await file.close()
      }
    },

    async save({ path, content, modifyTime, encoding = 'utf-8' }) {
      const bytes = encode(content, encoding)
      if (!bytes) {
        throw new AppError(
          'INVALID_INPUT',
          `content: ${printable(path)} is stored as ${encoding}, which cannot hold one of these characters. Save it as UTF-8.`,
          { field: 'content' },
        )
      }
      if (bytes.length > TEXT_LIMIT) throw tooLarge(path)
      return withParent(jail.openParentOfTarget(parsePath(path)), (directory, name) =>
        saveQueue(`${directory.realPath}/${name}`, async () => {
          const before = await lstatOf(directory, name)
          if (before) checkFile(before, path)
          if (modifyTime !== undefined) checkUnchanged(before, modifyTime, path)
          const temporary = await temporaries.file(directory, before ? before.mode & PERMISSION_BITS : 0o644)
          let written: Stats
          try {
            if (before) await copyOwnerAndMode(temporary.handle, before)
            await temporary.handle.writeFile(bytes)
            written = await temporary.handle.stat()
          } catch (error) {
            await temporary.discard()
            throw error
          }
          await temporary.replace(name, directory, async () => {
            // Check again: the file may have been written or moved in the meantime.
            if (modifyTime !== undefined) checkUnchanged(await lstatOf(directory, name), modifyTime, path)
          })
          return wholeMilliseconds(written)
        }),
      ).catch((error: unknown) => {
        throw fileFailure(error, path)
      })
    },
  }
}

/** Modification time in whole milliseconds, as the API sends it. */
export function wholeMilliseconds({ mtimeMs }: Pick<Stats, 'mtimeMs'>): number {
  return Math.floor(mtimeMs)
}

async function readAll(file: OpenFile): Promise<Buffer> {
  const handle = await file.open(constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    // One extra byte: the file may have grown since stat.
    const buffer = Buffer.alloc(Math.min(file.stats.size, TEXT_LIMIT) + 1)
    let length = 0
    for (let read = 1; read > 0 && length < buffer.length; length += read)
      read = (await handle.read(buffer, length, buffer.length - length)).bytesRead
    return buffer.subarray(0, Math.min(length, file.stats.size))
  } finally {
    await handle.close()
  }
}

function checkFile(stats: Stats, path: string): void {
  if (stats.isDirectory()) throw new AppError('CONFLICT', `${printable(path)} is a directory.`)
  if (!stats.isFile()) throw notText(path)
  if (stats.size > TEXT_LIMIT) throw tooLarge(path)
}

function checkUnchanged(stats: Stats | undefined, modifyTime: number, path: string): void {
  if (!stats) throw new AppError('CONFLICT', `${printable(path)} was deleted or moved since it was opened.`)
  if (wholeMilliseconds(stats) !== Math.floor(modifyTime))
    throw new AppError('CONFLICT', `${printable(path)} was changed since it was opened.`)
}

function tooLarge(path: string): AppError {
  return new AppError(
    'TOO_LARGE',
    `${printable(path)} is larger than ${TEXT_LIMIT / 2 ** 20} MiB, the limit of the editor. Download it instead.`,
  )
}

function notText(path: string): AppError {
  return new AppError('UNSUPPORTED_MEDIA_TYPE', `${printable(path)} is not a text file. Download it instead.`)
}
