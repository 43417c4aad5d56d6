import type { FileHandle } from 'node:fs/promises'
import { pipeline as pipelineWithCallback, type Duplex, type Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

/** How much is read at a time. In bytes. */
const CHUNK = 2 ** 20

/**
 * The bytes of an open file from its beginning, as a loop reads them. Not a stream of the handle: that one would keep the handle
 * from closing unless it closes it itself.
 * @param size how many bytes at most; fewer when the file ends before.
 */
export async function* chunksOf(handle: FileHandle, size = Infinity): AsyncGenerator<Buffer> {
  for (let at = 0; at < size;) {
    const chunk = Buffer.allocUnsafe(Math.min(CHUNK, size - at))
    const { bytesRead } = await handle.read(chunk, 0, chunk.length, at)
    if (bytesRead === 0) return
    at += bytesRead
    yield chunk.subarray(0, bytesRead)
  }
}

/**
 * Writes all of a stream, or of what a second one makes of it, into an open file, which stays open.
 * @throws the stream's error, or that of the file system; the stream is destroyed then.
 */
export async function writeStream(
  content: Readable | [Readable, Duplex],
  handle: FileHandle,
  signal?: AbortSignal,
): Promise<void> {
  let failure: unknown
  const store = async (source: AsyncIterable<Buffer>) => {
    for await (const chunk of source) {
      for (let at = 0; at < chunk.length;) {
        const { bytesWritten } = await handle.write(chunk, at, chunk.length - at).catch((error: unknown) => {
          throw (failure = error)
        })
        at += bytesWritten
      }
    }
  }
  const options = signal ? { signal } : {}
  try {
    await (Array.isArray(content)
      ? pipeline(content[0], content[1], store, options)
      : pipeline(content, store, options))
  } catch (error) {
    // What was destroyed on the way says only that it was aborted.
    throw failure ?? error
  }
}

/**
 * Pipes a stream into another and returns that one, for somebody who reads it later. A stream error without a listener ends the process, so
 * this is the only place that pipes without waiting for the end (the linter forbids `.pipe`): both streams have an error listener from
 * here on, a failure of either destroys both, and the reader gets it by reading.
 */
export function piped<Destination extends Duplex>(source: Readable, destination: Destination): Destination {
  for (const stream of [source, destination]) stream.on('error', () => undefined)
  pipelineWithCallback(source, destination, () => undefined)
  return destination
}
