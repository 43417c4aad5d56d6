import type { Stats } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { shortened } from './depth'
import { chunksOf } from './streams'

/** The smallest hole that is kept: file systems give out blocks of this size, or larger ones. In bytes. */
const BLOCK = 4096
const EMPTY_BLOCK = Buffer.alloc(BLOCK)
const GIB = 2 ** 30

/** How much of holes one copy of a tree reads: a program of an instance can make files of any size that take no room. In bytes. */
export const HOLES_LIMIT = 64 * GIB

/** How much of a file takes no room on its disk: holes, or what its file system saves by compressing. In bytes. */
export function holesOf({ size, blocks }: Pick<Stats, 'size' | 'blocks'>): number {
  return Math.max(0, size - blocks * 512)
}

/** Why a file beyond the limit is left out, and what to do, for people. */
export function tooManyHoles(path: string, { size }: Pick<Stats, 'size'>): string {
  return `"${shortened(path)}" is ${Math.round(size / GIB)} GiB long and nearly empty: files with more than ${HOLES_LIMIT / GIB} GiB of holes are left out. Make it smaller, or delete it.`
}

/**
 * Copies the first bytes of a file into an empty one. Blocks of zeros become holes, so that the copy takes no more room than the file.
 * @param size how many bytes at most; fewer when the file ends before.
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

/** Where a chunk holds blocks of anything but zeros. */
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
