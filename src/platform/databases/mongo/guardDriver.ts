import type { Transform } from 'node:stream'

/** The header of a message (MongoDB wire protocol). */
const HEADER_BYTES = 16
/** The longest message of a server (`maxMessageSizeBytes`). */
const MESSAGE_MAX_BYTES = 48_000_000
/** Only shorter messages are searched for a SCRAM challenge. */
const CHALLENGE_MAX_BYTES = 4096
/** MongoDB's default is 15,000. */
const MAX_ITERATIONS = 1_000_000

let guarded: Promise<void> | undefined

/**
 * Makes the driver check the messages of servers, once for all clients. The driver trusts any length: one shorter than
 * a header makes it loop for ever, and it allocates up to 2 GB. It also computes as many SCRAM iterations as the server
 * asks for. A server on a loopback port may be a program that took the port while the real server restarted.
 */
export function guardDriver(): Promise<void> {
  guarded ??= import('mongodb/lib/cmap/connection').then(({ SizedMessageTransform: { prototype } }) => {
    // eslint-disable-next-line @typescript-eslint/unbound-method -- called with its own `this` below
    const transform = prototype._transform
    const checks = new WeakMap<Transform, ReturnType<typeof createReplyCheck>>()
    prototype._transform = function (chunk: Buffer, encoding, callback) {
      const check = checks.get(this) ?? createReplyCheck()
      checks.set(this, check)
      const reason = check(chunk)
      if (reason === undefined) transform.call(this, chunk, encoding, callback)
      else callback(new Error(reason))
    }
  })
  return guarded
}

/** Returns a function that takes the chunks of a connection in order, and returns what is wrong with them. */
function createReplyCheck(): (chunk: Buffer) => string | undefined {
  let start = Buffer.alloc(0)
  let missing = 0

  return (chunk) => {
    for (let at = 0; at < chunk.length;) {
      if (missing === 0) {
        const part = chunk.subarray(at, at + 4 - start.length)
        start = Buffer.concat([start, part])
        at += part.length
        if (start.length < 4) return undefined
        const length = start.readInt32LE(0)
        if (length < HEADER_BYTES || length > MESSAGE_MAX_BYTES)
          return `The MongoDB server sent a message of ${length} bytes.`
        missing = length - 4
      }
      const part = chunk.subarray(at, at + missing)
      if (start.length < CHALLENGE_MAX_BYTES) start = Buffer.concat([start, part])
      at += part.length
      missing -= part.length
      if (missing > 0) return undefined
      const iterations = iterationsOf(start)
      if (iterations > MAX_ITERATIONS) return `The MongoDB server asks for ${iterations} SCRAM iterations.`
      start = Buffer.alloc(0)
    }
    return undefined
  }
}

/** The iterations of a SCRAM challenge (RFC 5802, server-first-message); 0 for another message. */
function iterationsOf(message: Buffer): number {
  if (message.length > CHALLENGE_MAX_BYTES || !message.includes('conversationId')) return 0
  // A lookbehind checks what precedes the number, because matching it first takes up to a million steps per position.
  return Number(/,i=(?<=r=[^,]{1,1000},s=[^,]{1,1000},i=)(\d{1,15})/.exec(message.toString('latin1'))?.[1] ?? 0)
}
