import type { Transform } from 'node:stream'
import type { Document } from 'mongodb'

/** The header of a message (MongoDB wire protocol). */
const HEADER_BYTES = 16
/** The longest message of a server (`maxMessageSizeBytes`). */
const MESSAGE_MAX_BYTES = 48_000_000
/** The opcode of a compressed message. */
const OP_COMPRESSED = 2012
/** MongoDB's default is 15,000. */
const MAX_ITERATIONS = 1_000_000

let guarded: Promise<void> | undefined

/**
 * Makes the driver check what servers send, once for all clients. The driver trusts any length: one shorter than a
 * header makes it loop forever, and it allocates up to 2 GB. It inflates compressed messages without a limit, and
 * computes as many SCRAM iterations as the server asks for. A server on a loopback port may be a program that took the
 * port while the real server restarted.
 */
export function guardDriver(): Promise<void> {
  guarded ??= import('mongodb/lib/cmap/connection').then(({ SizedMessageTransform, Connection }) => {
    guardMessages(SizedMessageTransform.prototype)
    guardSignIn(Connection.prototype)
  })
  return guarded
}

function guardMessages(prototype: Transform): void {
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
}

/** Returns a function that takes the chunks of a connection in order, and returns what is wrong with them. */
function createReplyCheck(): (chunk: Buffer) => string | undefined {
  let header = Buffer.alloc(0)
  /** In bytes, of the message after its header. */
  let missing = 0

  return (chunk) => {
    for (let at = 0; at < chunk.length;) {
      if (missing === 0) {
        const part = chunk.subarray(at, at + HEADER_BYTES - header.length)
        header = Buffer.concat([header, part])
        at += part.length
        // The driver reads the length before the rest of the header has arrived.
        if (header.length < 4) return undefined
        const length = header.readInt32LE(0)
        if (length < HEADER_BYTES || length > MESSAGE_MAX_BYTES)
          return `The MongoDB server sent a message of ${length} bytes.`
        if (header.length < HEADER_BYTES) return undefined
        if (header.readInt32LE(12) === OP_COMPRESSED) return 'The MongoDB server sent a compressed message.'
        missing = length - HEADER_BYTES
        header = Buffer.alloc(0)
      }
      const skipped = Math.min(missing, chunk.length - at)
      at += skipped
      missing -= skipped
    }
    return undefined
  }
}

/** Checks the SCRAM challenges that answer a sign-in command or come with the first message of a server. */
function guardSignIn(prototype: { command: (...command: unknown[]) => Promise<Document> }): void {
  const { command } = prototype
  prototype.command = async function (...parts) {
    const response = await command.apply(this, parts)
    const [, { saslStart, saslContinue }] = parts as [unknown, Document]
    const challenge =
      (saslStart ?? saslContinue) === undefined ? (response.speculativeAuthenticate as Document | undefined) : response
    const iterations = iterationsOf(challenge)
    if (iterations > MAX_ITERATIONS) throw new Error(`The MongoDB server asks for ${iterations} SCRAM iterations.`)
    // No compression is agreed, whatever the URL asks for.
    if (response.compression !== undefined) delete response.compression
    return response
  }
}

/**
 * The most iterations in a SCRAM challenge (RFC 5802, server-first-message); 0 without one. The driver takes its fields
 * in any order, and reads the number with parseInt.
 */
function iterationsOf(challenge: Document | undefined): number {
  const payload = challenge?.payload as { buffer?: Uint8Array; position?: number } | Uint8Array | undefined
  const bytes = payload instanceof Uint8Array ? payload : (payload?.buffer ?? Buffer.alloc(0))
  const fields = Buffer.from(bytes).toString('utf8').split(',')
  const counts = fields.filter((field) => field.startsWith('i=')).map((field) => parseInt(field.slice(2), 10) || 0)
  return counts.reduce((most, count) => Math.max(most, count), 0)
}
