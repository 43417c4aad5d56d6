import { constants, type Stats } from 'node:fs'
import { copyFile, open, type FileHandle } from 'node:fs/promises'
import { truncatedPath } from '../depth'
import { chunksOf } from '../streams'

/** Smallest hole in bytes that is preserved: file systems allocate blocks of at least this size. */
const BLOCK = 4096
const EMPTY_BLOCK = Buffer.alloc(BLOCK)
const GIB = 2 ** 30
/** Size in bytes from which it is checked whether a file fits, and from which holes are preserved. */
const LARGE_FILE_BYTES = 2 ** 20

/**
 * Bytes of holes that one copy or archive may read: an instance can create huge sparse files without using disk space.
 */
export const HOLES_LIMIT = 64 * GIB

/** Bytes of a file that take no disk space: holes, or savings by compression. */
export function holesOf({ size, blocks }: Pick<Stats, 'size' | 'blocks'>): number {
  return Math.max(0, size - blocks * 512)
}

/**
 * Bytes of holes in a nearly empty file, of which less than a sixteenth is stored. 0 for other files: compression may
 * save as much.
 */
export function emptyBytesOf(stats: Pick<Stats, 'size' | 'blocks'>): number {
  const holes = holesOf(stats)
  return holes > (stats.size / 16) * 15 ? holes : 0
}

/** Error text for a file beyond the limit. @param consequence what happens to such files */
export function tooManyHolesMessage(path: string, { size }: Pick<Stats, 'size'>, consequence = 'are left out'): string {
  return `"${truncatedPath(path)}" is ${Math.round(size / GIB)} GiB long and nearly empty: files that have more than ${HOLES_LIMIT / GIB} GiB of holes together ${consequence}. Make such files smaller, or delete them.`
}

/**
 * Copies by descriptor, so that the checked file is copied; as a reflink where the file system supports it.
 * @param requireRoomFor called before a large file is copied byte by byte. A reflink takes no room.
 */
export async function copyContents(
  { handle, stats }: { handle: FileHandle; stats: Stats },
  target: string,
  requireRoomFor: (bytes: number) => Promise<void>,
): Promise<void> {
  const source = `/proc/self/fd/${handle.fd}`
  if (stats.size < LARGE_FILE_BYTES) return copyFile(source, target, constants.COPYFILE_FICLONE)
  await copyFile(source, target, constants.COPYFILE_FICLONE_FORCE).catch(async () => {
    const holes = holesOf(stats)
    await requireRoomFor(stats.size - holes)
    await (holes < LARGE_FILE_BYTES ? copyFile(source, target) : copySparse(handle, stats, target))
  })
}

/** libuv's copy would fill the holes with zeros. */
async function copySparse(from: FileHandle, { size, mode }: Stats, target: string): Promise<void> {
  const copy = await open(
    target,
    constants.O_CREAT | constants.O_TRUNC | constants.O_WRONLY | constants.O_NOFOLLOW,
    mode & 0o7777,
  )
  try {
    await copyWithHoles(from, size, copy)
    await copy.chmod(mode & 0o7777)
  } finally {
    await copy.close()
  }
}

/**
 * Copies the first bytes of a file into an empty one. Blocks of zeros become holes.
 * @param size maximum number of bytes; fewer when the file ends before.
 * @throws the signal's reason; Node.js errors of the file system
 */
export async function copyWithHoles(
  from: FileHandle,
  size: number,
  to: FileHandle,
  signal?: AbortSignal,
): Promise<void> {
  let at = 0
  for await (const chunk of chunksOf(from, size)) {
    signal?.throwIfAborted()
    for (const [start, end] of dataIn(chunk)) await writeAt(to, chunk.subarray(start, end), at + start)
    at += chunk.length
  }
  await to.truncate(at)
}

/** Ranges of a chunk that contain anything but blocks of zeros. */
function* dataIn(chunk: Buffer): Generator<[start: number, end: number]> {
  let start = 0
  for (let at = 0; at < chunk.length; at += BLOCK) {
    const end = Math.min(at + BLOCK, chunk.length)
    if (chunk.compare(EMPTY_BLOCK, 0, end - at, at, end) !== 0) continue
    if (start < at) yield [start, at]
    start = end
  }
  if (start < chunk.length) yield [start, chunk.length]
}

async function writeAt(handle: FileHandle, bytes: Buffer, position: number): Promise<void> {
  for (let done = 0; done < bytes.length;)
    done += (await handle.write(bytes, done, bytes.length - done, position + done)).bytesWritten
}
