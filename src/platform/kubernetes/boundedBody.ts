import type { Readable } from 'node:stream'

/** The response is longer than any that a cluster should send. */
class BodyTooLong extends Error {
  constructor(limit: number) {
    super(`the response of the Kubernetes API server has more than ${limit} bytes`)
  }
}

/**
 * Reads a text of at most `limit` bytes, so that an endless response cannot fill the memory.
 * @throws BodyTooLong; Node.js errors of the stream
 */
export async function readText(body: Readable, limit: number): Promise<string> {
  const parts: Buffer[] = []
  let bytes = 0
  // Leaving the loop destroys the stream.
  for await (const part of body as AsyncIterable<Buffer>) {
    bytes += part.length
    if (bytes > limit) throw new BodyTooLong(limit)
    parts.push(part)
  }
  return Buffer.concat(parts).toString()
}
