import type { FileHandle } from 'node:fs/promises'
import { pipeline as pipelineWithCallback, Writable, type Duplex, type Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

/** Bytes per read. */
const CHUNK = 2 ** 20
/** Chunks that are written at once without a copy. A client may send a million of one byte. */
const MAX_CHUNKS = 1024

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
  const write = (chunks: Buffer[], done: (error?: Error | null) => void) =>
    writeAll(handle, chunks).then(
      () => done(),
      (error: unknown) => done((failure = error) as Error),
    )
  // Chunks that arrive during a write are written at once by the next one, without a copy of them.
  const store = new Writable({
    highWaterMark: CHUNK,
    write: (chunk: Buffer, _encoding, done) => void write([chunk], done),
    writev: (chunks, done) =>
      void write(
        chunks.map(({ chunk }) => chunk as Buffer),
        done,
      ),
  })
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

async function writeAll(handle: FileHandle, chunks: Buffer[]): Promise<void> {
  let rest = chunks.length > MAX_CHUNKS ? [Buffer.concat(chunks)] : chunks
  while (rest.length > 0) {
    let { bytesWritten } = await handle.writev(rest)
    while (rest[0] && rest[0].length <= bytesWritten) {
      bytesWritten -= rest[0].length
      rest = rest.slice(1)
    }
    if (rest[0]) rest = [rest[0].subarray(bytesWritten), ...rest.slice(1)]
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
