import { constants, type Stats } from 'node:fs'
import { AppError } from '../errors'
import type { SaveFile, TextEncoding } from '../../contract/file'
import { decode, encode, TEXT_LIMIT } from './encodings'
import { fileFailure } from './fileFailure'
import { holdingParent, type HeldFile, type Jail } from './jail'
import { createKeyedQueue } from './keyedQueue'
import { lstatOf } from './placing'
import { RIGHTS, takeRights } from './rights'
import type { Temporaries } from './temporaries'
import { namesOf, printable } from './wirePath'

export interface TextFile {
  content: string
  encoding: TextEncoding
  /** Milliseconds since the epoch, whole. */
  modifyTime: number
}

export interface Contents {
  /** @throws AppError NOT_FOUND, CONFLICT (a directory), TOO_LARGE (over 5 MiB), UNSUPPORTED_MEDIA_TYPE (no text) */
  read(path: string): Promise<TextFile>
  /**
   * Replaces a text at once, or makes the file; mode and owner stay.
   * @param modifyTime of the file as it was read: it must not have changed since.
   * @returns its new modification time.
   * @throws AppError CONFLICT (changed, gone, or a directory), TOO_LARGE, INVALID_INPUT (the encoding cannot hold it), DISK_FULL
   */
  save(request: SaveFile): Promise<number>
}

export function createContents(jail: Jail, temporaries: Temporaries): Contents {
  /** Saves of one file are stored in the order they came. */
  const oneByOne = createKeyedQueue()
  return {
    async read(path) {
      const held = await jail.follow(namesOf(path))
      try {
        checkFile(held.stats, path)
        const bytes = await readAll(held)
        const { text, encoding } = decode(bytes)
        // What would not come back as it was must not be edited.
        if (text.includes('\0') || !encode(text, encoding)?.equals(bytes)) throw notText(path)
        return { content: text, encoding, modifyTime: wholeMs(held.stats) }
      } catch (error) {
        throw fileFailure(error, path)
      } finally {
        await held.close()
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
      return holdingParent(jail.parentOfTarget(namesOf(path)), (directory, name) =>
        oneByOne(`${directory.realPath}/${name}`, async () => {
          const before = await lstatOf(directory, name)
          if (before) checkFile(before, path)
          if (modifyTime !== undefined) checkUnchanged(before, modifyTime, path)
          const temporary = await temporaries.file(directory, before ? before.mode & RIGHTS : 0o644)
          try {
            if (before) await takeRights(temporary.handle, before)
            await temporary.handle.writeFile(bytes)
          } catch (error) {
            await temporary.discard()
            throw error
          }
          const written = await temporary.handle.stat()
          await temporary.replace(name, directory, async () => {
            // Once more: it may have been written or moved meanwhile.
            if (modifyTime !== undefined) checkUnchanged(await lstatOf(directory, name), modifyTime, path)
          })
          return wholeMs(written)
        }),
      ).catch((error: unknown) => {
        throw fileFailure(error, path)
      })
    },
  }
}

/** As the wire carries it. */
export function wholeMs({ mtimeMs }: Pick<Stats, 'mtimeMs'>): number {
  return Math.floor(mtimeMs)
}

async function readAll(held: HeldFile): Promise<Buffer> {
  const handle = await held.open(constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    // One byte more than allowed: a file may have grown since it was measured.
    const buffer = Buffer.alloc(Math.min(held.stats.size, TEXT_LIMIT) + 1)
    let length = 0
    for (let read = 1; read > 0 && length < buffer.length; length += read)
      read = (await handle.read(buffer, length, buffer.length - length)).bytesRead
    return buffer.subarray(0, Math.min(length, held.stats.size))
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
  if (wholeMs(stats) !== Math.floor(modifyTime))
    throw new AppError('CONFLICT', `${printable(path)} was changed since it was opened.`)
}

function tooLarge(path: string): AppError {
  return new AppError(
    'TOO_LARGE',
    `${printable(path)} is larger than ${TEXT_LIMIT / 2 ** 20} MiB, the most the editor takes. Download it instead.`,
  )
}

function notText(path: string): AppError {
  return new AppError('UNSUPPORTED_MEDIA_TYPE', `${printable(path)} is not a text. Download it instead.`)
}
