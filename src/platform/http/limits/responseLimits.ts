import type { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { createKeyedCounter } from '../../concurrency/keyedCounter'
import { AppError } from '../../errors'
import { clientKeyOf } from '../access'
import { removeContentHeaders } from '../envelope'
import { throwIfDisconnected, onResponseEnd } from '../responseEvents'

/** In bytes, for all clients together. */
const MAX_TOTAL_BYTES = 256 * 2 ** 20
/** In bytes, for one user, or for one address without a session. */
const MAX_BYTES_PER_CLIENT = MAX_TOTAL_BYTES / 2
/** In bytes. Shorter responses are not counted, because the socket buffers take most of them. */
const MIN_COUNTED_BYTES = 2 ** 16
/** Each stream holds a file and a buffer. Files of the page are counted per address, which an office shares. */
const MAX_STREAMS = { user: 32, address: 512 }
const RETRY_AFTER_SECONDS = 5
/** A client that reads nothing of a response from one check to the next is disconnected. */
const WRITE_TIMEOUT_MS = 60_000

/** Limits the memory of responses that slow clients have not read yet. */
export interface ResponseBuffers {
  /**
   * Counts a response body until it was sent or the connection has closed. A body shared by several responses counts
   * once. Where all memory is taken, the oldest responses of the client that holds most are ended, as long as it holds
   * more than this one would.
   * @throws AppError UNAVAILABLE over a limit, TOO_SLOW if the client has disconnected
   */
  countUntilSent(request: FastifyRequest, reply: FastifyReply, body: object, bytes: number): void
}

/** Of a body: its length, and the clients with the functions that end their responses. */
interface CountedBody {
  bytes: number
  holders: { key: string; end: () => void }[]
}

export function createResponseBuffers(): ResponseBuffers {
  /** Oldest first. */
  const counted = new Map<object, CountedBody>()

  const totalBytes = () => [...counted.values()].reduce((sum, { bytes }) => sum + bytes, 0)

  function bytesByClient(): Map<string, number> {
    const sums = new Map<string, number>()
    for (const { bytes, holders } of counted.values())
      for (const key of new Set(holders.map((holder) => holder.key))) sums.set(key, (sums.get(key) ?? 0) + bytes)
    return sums
  }

  /**
   * Ends the oldest response of the client that holds most.
   * @param keyBytes what the client `key` would hold
   * @returns false if no other client holds more
   */
  function endOldestOfLargest(key: string, keyBytes: number): boolean {
    const [largest] = [...bytesByClient()].sort(([, a], [, b]) => b - a)
    if (!largest || largest[0] === key || largest[1] <= keyBytes) return false
    const [oldest] = [...counted.values()].filter(({ holders }) => holders.every((holder) => holder.key === largest[0]))
    for (const { end } of [...(oldest?.holders ?? [])]) end()
    return oldest !== undefined
  }

  return {
    countUntilSent(request, reply, body, bytes) {
      const { key } = clientKeyOf(request)
      throwIfDisconnected(request)
      // writableEnded: a failure elsewhere was answered already.
      if (bytes < MIN_COUNTED_BYTES || reply.raw.writableEnded) return
      const known = counted.get(body) ?? { bytes, holders: [] }
      const ownBytes = (bytesByClient().get(key) ?? 0) + (isHeldBy(known.holders, key) ? 0 : bytes)
      const isOver = () => !counted.has(body) && totalBytes() + bytes > MAX_TOTAL_BYTES
      let hasRoom = ownBytes <= MAX_BYTES_PER_CLIENT
      while (hasRoom && isOver()) hasRoom = endOldestOfLargest(key, ownBytes)
      if (!hasRoom)
        throw new AppError('UNAVAILABLE', 'Too many large responses are in progress. Try again in a moment.', {
          retryAfterSeconds: RETRY_AFTER_SECONDS,
        })
      const release = () => {
        const at = known.holders.indexOf(holder)
        if (at !== -1) known.holders.splice(at, 1)
        if (known.holders.length === 0 && counted.get(body) === known) counted.delete(body)
      }
      const holder = {
        key,
        end: () => {
          // Not `reply.raw`: a pipelined response has no connection yet. Its event comes later.
          request.raw.socket.destroy()
          release()
        },
      }
      known.holders.push(holder)
      counted.set(body, known)
      onResponseEnd(request, reply, release)
    },
  }
}

const isHeldBy = (holders: CountedBody['holders'], key: string) => holders.some((holder) => holder.key === key)

/**
 * Gives every response a write timeout, and limits long or streamed ones per client, so that a client that does not
 * read holds neither memory nor files for long. Must run before other `onSend` hooks, so that they see its refusals.
 * @param writeTimeoutMs for tests
 */
export function limitResponses(
  app: FastifyInstance,
  buffers: ResponseBuffers,
  writeTimeoutMs = WRITE_TIMEOUT_MS,
): void {
  const streams = createKeyedCounter<string>()

  function beginStream(request: FastifyRequest, reply: FastifyReply): void {
    throwIfDisconnected(request)
    const { key, isUser } = clientKeyOf(request)
    if (streams.get(key) >= (isUser ? MAX_STREAMS.user : MAX_STREAMS.address)) {
      throw new AppError(
        'TOO_MANY_TRIES',
        'Too many downloads are in progress. Try again when one of them has finished.',
        { retryAfterSeconds: RETRY_AFTER_SECONDS },
      )
    }
    streams.add(key, 1)
    onResponseEnd(request, reply, () => streams.add(key, -1))
  }

  app.addHook('onSend', async (request, reply, payload) => {
    destroyUnread(request, reply, writeTimeoutMs)
    if (isStream(payload)) {
      try {
        beginStream(request, reply)
      } catch (error) {
        payload.destroy()
        removeContentHeaders(reply)
        throw error
      }
    } else if (typeof payload === 'string' || Buffer.isBuffer(payload)) {
      if (Buffer.byteLength(payload) < MIN_COUNTED_BYTES) return payload
      // As bytes: Node.js would hold both the string and its bytes.
      const bytes = typeof payload === 'string' ? Buffer.from(payload) : payload
      buffers.countUntilSent(request, reply, bytes, bytes.length)
      return bytes
    }
    return payload
  })
}

/** The part of a connection's handle (Node.js, `net.Socket`) that is used here, in bytes. */
interface Handle {
  bytesWritten: number
  /** Of these, what the kernel has not taken yet. */
  writeQueueSize: number
}

/**
 * Destroys a response of which its client reads nothing. The time-out of the connection would not do: each byte that
 * the client sends prolongs it, and it ends with an upgrade that follows the request.
 */
function destroyUnread(request: FastifyRequest, reply: FastifyReply, intervalMs: number): void {
  const { socket }: { socket: Socket & { _handle?: Handle | null } } = request.raw
  const queuedBytes = () => socket._handle?.writeQueueSize ?? 0
  const sentBytes = () => (socket._handle?.bytesWritten ?? 0) - queuedBytes()
  let before = sentBytes()
  const timer = setInterval(() => {
    const sent = sentBytes()
    // Without bytes that wait for the client, it is the source that is slow, such as a disk.
    const isUnread = queuedBytes() + socket.writableLength > 0
    if (sent === before && isUnread) reply.raw.destroy()
    before = sent
  }, intervalMs).unref()
  onResponseEnd(request, reply, () => clearInterval(timer))
}

function isStream(payload: unknown): payload is Readable {
  return typeof payload === 'object' && payload !== null && 'pipe' in payload
}
