import { isUtf8 } from 'node:buffer'
import type { Readable } from 'node:stream'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { createKeyedCounter } from '../concurrency/keyedCounter'
import { AppError } from '../errors'
import { clientKeyOf } from './access'
import { hasLoneSurrogate, hasMoreValues } from './jsonValues'
import { createOnResponse } from './responseEvents'

/** In bytes, of the bodies of all clients together. One user or address may hold a share of it. */
const MAX_TOTAL_BYTES = 256 * 2 ** 20
const CLIENT_SHARE = 1 / 4

/** In bytes, for a body without a session or API key. The longest is the response of a passkey. */
const MAX_BYTES_OF_STRANGER = 64 * 1024

/**
 * In bytes. A chunk counts as this much of a body at least: each takes as much time as a longer one, and a client may
 * send a million of one byte.
 */
const MIN_CHUNK_COST = 16
/** In bytes, of the buffer in which a body is collected. It doubles as needed. */
const FIRST_BUFFER = 4096

/** Limit of values in one body: 32 MiB of `{},` block the event loop for seconds and take half a gigabyte. */
const MAX_VALUES = 200_000
/** In UTF-16 code units. Shorter bodies parse fast whatever they contain. */
const COUNT_VALUES_FROM_LENGTH = 512 * 1024

/**
 * Parses JSON bodies whatever the case of the media type. An empty body is undefined. The body of a GET is not read. A
 * body counts against the limits until its handler has answered: a handler that waits, for example for other saves of a
 * file, still holds it, even after its client has disconnected.
 * @param timeoutMs limit for the arrival of a body
 */
export function readJsonBodies(app: FastifyInstance, timeoutMs: number, maxTotalBytes = MAX_TOTAL_BYTES): void {
  const parse = app.getDefaultJsonParser('error', 'error')
  const budgets = createByteBudgets(maxTotalBytes)
  const onResponse = createOnResponse(app)
  app.removeContentTypeParser('application/json')
  app.addContentTypeParser('application/json', async (request: FastifyRequest, payload: Readable) => {
    const { bodyLimit } = request.routeOptions
    const limit = request.user ? bodyLimit : Math.min(bodyLimit, MAX_BYTES_OF_STRANGER)
    if (Number(request.headers['content-length']) > limit) throw tooLarge()
    const budget = budgets.open(clientKeyOf(request).key)
    onResponse(request, budget.close)
    const text = await readText(payload, limit, timeoutMs, budget)
    if (text === '') return undefined
    if (text.length > COUNT_VALUES_FROM_LENGTH && hasMoreValues(text, MAX_VALUES))
      throw new AppError('TOO_LARGE', 'The request’s body contains too many values.')
    if (hasLoneSurrogate(text))
      throw new AppError(
        'INVALID_INPUT',
        'The request’s body contains half of a surrogate pair, which is no character.',
      )
    return await new Promise(
      (resolve, reject) => void parse(request, text, (error, body) => (error ? reject(error) : resolve(body))),
    )
  })
}

/** A body in progress. */
interface HeldBody {
  key: string
  bytes: number
  /** Ends the request while the body arrives; undefined before and afterwards. */
  refuse: ((error: AppError) => void) | undefined
}

/**
 * Counts the bytes of bodies in progress, in total and by client. Where all of them are held, the oldest unfinished
 * body of the client that holds most is refused, as long as that is more than the one whose body arrives.
 */
function createByteBudgets(maxTotalBytes: number) {
  const held = createKeyedCounter<string>()
  /** Oldest first. */
  const bodies = new Set<HeldBody>()
  let total = 0

  function count(body: HeldBody, bytes: number): void {
    body.bytes += bytes
    total += bytes
    held.add(body.key, bytes)
  }

  /** @returns false if no client holds more than this one */
  function refuseOldestOfLargest(key: string): boolean {
    let largest: HeldBody | undefined
    for (const body of bodies)
      if (body.refuse && body.bytes > 0 && held.get(body.key) > held.get(largest?.key ?? key)) largest = body
    if (!largest) return false
    count(largest, -largest.bytes)
    largest.refuse?.(tooManyBodies())
    return true
  }

  return {
    open(key: string) {
      const body: HeldBody = { key, bytes: 0, refuse: undefined }
      bodies.add(body)
      return {
        body,
        /** @returns the failure over a limit */
        add(bytes: number): AppError | undefined {
          count(body, bytes)
          let isOver = held.get(key) > maxTotalBytes * CLIENT_SHARE
          while (!isOver && total > maxTotalBytes) isOver = !refuseOldestOfLargest(key)
          return isOver ? tooManyBodies() : undefined
        },
        close: () => {
          count(body, -body.bytes)
          bodies.delete(body)
        },
      }
    },
  }
}

type BodyBudget = ReturnType<ReturnType<typeof createByteBudgets>['open']>

/**
 * Reads a stream as UTF-8 text. Does not destroy the stream on failure, which would close the connection before the
 * response.
 * @param budget counts each chunk, and may refuse it, or the body while it arrives
 * @throws AppError TOO_LARGE over the limit (bytes), TOO_SLOW after the timeout, INVALID_INPUT if the client
 * disconnects or sends other text
 */
function readText(stream: Readable, limit: number, timeoutMs: number, budget: BodyBudget): Promise<string> {
  return new Promise((resolve, reject) => {
    // Never removed: an unhandled error of the stream would end the process.
    stream.on('error', () => undefined)
    const incomplete = new AppError('INVALID_INPUT', 'The connection was closed before the request was complete.')
    // The client disconnected during authentication: no event will follow.
    if (stream.destroyed) return reject(incomplete)
    const body = createCollector()
    let counted = 0
    let arrived = 0
    const onData = (chunk: Buffer) => {
      body.add(chunk)
      counted += Math.max(chunk.length, MIN_CHUNK_COST)
      arrived += chunk.length
      const failure = budget.add(chunk.length) ?? overLimit()
      if (failure) settle(() => reject(failure))
    }
    const overLimit = () => {
      if (arrived > limit) return tooLarge()
      return counted > limit ? tooManyParts() : undefined
    }
    const onClose = () => settle(() => reject(incomplete))
    const onEnd = () =>
      settle(() => {
        const bytes = body.bytes()
        // Decoded with replacements, other texts would be stored than were sent (RFC 8259 §8.1).
        if (isUtf8(bytes)) resolve(bytes.toString('utf8'))
        else reject(new AppError('INVALID_INPUT', 'The request’s body is not valid UTF-8.'))
      })
    const timer = setTimeout(
      () => settle(() => reject(new AppError('TOO_SLOW', 'The request did not arrive in time.'))),
      timeoutMs,
    )
    stream.on('data', onData).on('end', onEnd).on('close', onClose)
    budget.body.refuse = (error) => settle(() => reject(error))

    function settle(finish: () => void): void {
      clearTimeout(timer)
      budget.body.refuse = undefined
      stream.off('data', onData).off('end', onEnd).off('close', onClose)
      finish()
    }
  })
}

/** Joins chunks as they arrive. A list of small ones would take many times their length. */
function createCollector() {
  let buffer = Buffer.alloc(0)
  let length = 0
  return {
    add(chunk: Buffer): void {
      if (length + chunk.length > buffer.length) {
        const larger = Buffer.allocUnsafeSlow(Math.max(2 * buffer.length, length + chunk.length, FIRST_BUFFER))
        buffer.copy(larger, 0, 0, length)
        buffer = larger
      }
      length += chunk.copy(buffer, length)
    },
    bytes: () => buffer.subarray(0, length),
  }
}

function tooManyBodies(): AppError {
  return new AppError('UNAVAILABLE', 'Too many large requests are in progress. Try again in a moment.')
}

function tooManyParts(): AppError {
  return new AppError('TOO_LARGE', 'The request’s body arrived in too many small parts. Send it in larger ones.')
}

function tooLarge(): AppError {
  return new AppError('TOO_LARGE', 'The request’s body is too large.')
}
