import { open, type FileHandle } from 'node:fs/promises'
import { consoleText } from '../../consoleText'
import { MAX_STORED_BYTES } from '../../lineRing'
import { eachRow } from '../../logRows'
import type { ConsoleLine } from '../../runtime'
import { LineJoiner, readRow } from './criLog'

/** Bytes at the end of both files that are read for the stored lines, row headers included. */
const MAX_TAIL_BYTES = 6 * 2 ** 20
const FIRST_TAIL_BYTES = 64 * 1024

/** A position in a log whose previous file was rotated. */
export interface LogPosition {
  /** The current file. */
  handle: FileHandle
  /** In bytes, in the current file. */
  offset: number
  /** The number of the last line before the position. */
  last: number
  /** The rotated file; undefined if there is none, or if it does not precede the current one. */
  previous: { path: string; ino: number } | undefined
}

/** Up to `limit` stored lines before the current position. */
export async function readTail(position: LogPosition, limit: number): Promise<ConsoleLine[]> {
  if (limit <= 0) return []
  for (let bytes = FIRST_TAIL_BYTES; ; bytes = Math.min(MAX_TAIL_BYTES, bytes * 8)) {
    const { buffer, isWhole } = await lastBytes(position, bytes)
    const texts: Omit<ConsoleLine, 'seq'>[] = []
    const joiner = new LineJoiner()
    // The first row may be incomplete, unless the buffer starts at the start of the log.
    let skip = isWhole ? 0 : 1
    eachRow(buffer, (start, end) => {
      if (skip-- > 0) return
      const line = joiner.add(readRow(buffer, start, end), buffer, end, true)
      if (line?.text !== undefined) texts.push({ type: line.type, content: consoleText(line.text) })
    })
    if (texts.length < limit && !isWhole && bytes < MAX_TAIL_BYTES) continue
    return withNumbers(texts.slice(-limit), position.last)
  }
}

/** Numbers the lines before a position, as many as a console stores. */
function withNumbers(texts: Omit<ConsoleLine, 'seq'>[], last: number): ConsoleLine[] {
  let size = 0
  let from = texts.length
  while (from > 0) {
    size += Buffer.byteLength(texts[from - 1]?.content ?? '')
    if (size > MAX_STORED_BYTES && from < texts.length) break
    from -= 1
  }
  const first = last - texts.length + 1
  return texts.slice(from).map((line, at) => ({ seq: first + from + at, ...line }))
}

/** The last bytes before the current position, across both files. */
async function lastBytes(
  { handle, offset, previous }: LogPosition,
  limit: number,
): Promise<{ buffer: Buffer; isWhole: boolean }> {
  const ofCurrent = Math.min(limit, offset)
  const parts = [await readPart(handle, offset - ofCurrent, ofCurrent)]
  let isWhole = ofCurrent === offset && previous === undefined
  if (previous && ofCurrent < limit) {
    const older = await open(previous.path, 'r').catch(() => undefined)
    try {
      const { ino, size } = (await older?.stat()) ?? { ino: 0, size: 0 }
      if (ino === previous.ino) {
        const ofOlder = Math.min(limit - ofCurrent, size)
        parts.unshift(await readPart(older, size - ofOlder, ofOlder))
        isWhole = ofOlder === size
      } else isWhole = ofCurrent === offset
    } finally {
      await older?.close()
    }
  }
  return { buffer: Buffer.concat(parts), isWhole }
}

async function readPart(handle: FileHandle | undefined, from: number, length: number): Promise<Buffer> {
  const buffer = Buffer.alloc(length)
  const { bytesRead } = (await handle?.read(buffer, 0, length, from)) ?? { bytesRead: 0 }
  return buffer.subarray(0, bytesRead)
}
