import type { FileHandle } from 'node:fs/promises'
import { pipeline as pipelineWithCallback, type Duplex, type Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

/** Bytes per read. */
const CHUNK = 2 ** 20

/**
 * Reads an open file from its beginning in chunks. Not a stream of the handle: such a stream keeps the handle from
 * closing unless the stream closes it itself.
 * @param size maximum number of bytes; fewer when the file ends before.
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
 * Writes a stream, optionally passed through a transform, into an open file, which stays open.
 * @throws the stream's error, or that of the file system; the stream is then destroyed.
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
    // The pipeline only reports an abort; `failure` has the cause.
    throw failure ?? error
  }
}

/**
 * Pipes a stream into another and returns the latter for a later consumer, who sees the errors of both. Adds error
 * listeners, because a stream error without a listener ends the process. The only place that pipes without awaiting the
 * end (the linter forbids `.pipe`).
 */
export function piped<Destination extends Duplex>(source: Readable, destination: Destination): Destination {
  for (const stream of [source, destination]) stream.on('error', () => undefined)
  pipelineWithCallback(source, destination, () => undefined)
  return destination
}
