import type { Readable } from 'node:stream'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { AppError } from '../errors'
import { payerOf } from './access'
import { hasMoreValues } from './jsonValues'

/** Of the bodies of all together, and of one user or address. In bytes. */
const MOST = 256 * 2 ** 20
const MOST_OF_ONE = MOST / 4

/**
 * Of one body. Calls that take long bodies take long strings or ten thousand files; 32 MiB of `{},` hold the platform up for seconds while they
 * are parsed, and take half a gigabyte.
 */
const MOST_VALUES = 200_000
/** Shorter bodies are parsed soon enough whatever they hold. In UTF-16 units. */
const LONG = 512 * 1024

/**
 * Parses JSON bodies: an empty one is none, a slow one is refused, whatever the case of its media type. Only calls whose body is
 * read come here: the body of a GET is left alone.
 * @param timeoutMs how long a body may take to arrive, in milliseconds.
 */
export function readJsonBodies(app: FastifyInstance, timeoutMs: number): void {
  const parse = app.getDefaultJsonParser('error', 'error')
  const accounts = createAccounts()
  app.removeContentTypeParser('application/json')
  app.addContentTypeParser('application/json', async (request: FastifyRequest, payload: Readable) => {
    const limit = request.routeOptions.bodyLimit
    if (Number(request.headers['content-length']) > limit) throw tooLarge()
    const account = accounts.open(payerOf(request).key)
    try {
      const text = await readText(payload, limit, timeoutMs, account.add)
      if (text === '') return undefined
      if (text.length > LONG && hasMoreValues(text, MOST_VALUES))
        throw new AppError('TOO_LARGE', 'The request holds more values than any call takes.')
      return await new Promise(
        (resolve, reject) => void parse(request, text, (error, body) => (error ? reject(error) : resolve(body))),
      )
    } finally {
      account.close()
    }
  })
}

/** What the bodies that are being received hold, in bytes, for all together and for each who sends them. */
function createAccounts() {
  const held = new Map<string, number>()
  let total = 0
  return {
    open(key: string) {
      let own = 0
      const change = (bytes: number) => {
        own += bytes
        total += bytes
        const left = (held.get(key) ?? 0) + bytes
        if (left > 0) held.set(key, left)
        else held.delete(key)
      }
      return {
        add: (bytes: number) => {
          change(bytes)
          const isOver = total > MOST || (held.get(key) ?? 0) > MOST_OF_ONE
          return isOver
            ? new AppError('UNAVAILABLE', 'Too many long requests are on their way at once. Try again in a moment.')
            : undefined
        },
        close: () => change(-own),
      }
    },
  }
}

/**
 * Reads a stream as UTF-8 text. On failure the stream is left as it is: destroying a request would close its connection before it is answered.
 * @param count is told the bytes of each piece, and may answer with a failure.
 * @throws AppError TOO_LARGE over the limit (bytes), TOO_SLOW after the time-out (milliseconds), INVALID_INPUT when the client disconnects
 */
function readText(
  stream: Readable,
  limit: number,
  timeoutMs: number,
  count: (bytes: number) => AppError | undefined,
): Promise<string> {
  return new Promise((resolve, reject) => {
    // Stays: whatever becomes of the request later, its errors have an owner.
    stream.on('error', () => undefined)
    const incomplete = new AppError('INVALID_INPUT', 'The connection was closed before the request was complete.')
    // The client disconnected during authentication: no event will follow.
    if (stream.destroyed) return reject(incomplete)
    const chunks: Buffer[] = []
    let length = 0
    const onData = (chunk: Buffer) => {
      chunks.push(chunk)
      length += chunk.length
      const failure = count(chunk.length) ?? (length > limit ? tooLarge() : undefined)
      if (failure) settle(() => reject(failure))
    }
    const onClose = () => settle(() => reject(incomplete))
    const onEnd = () => settle(() => resolve(Buffer.concat(chunks, length).toString('utf8')))
    const timer = setTimeout(
      () => settle(() => reject(new AppError('TOO_SLOW', 'The request took too long to arrive.'))),
      timeoutMs,
    )
    stream.on('data', onData).on('end', onEnd).on('close', onClose)

    function settle(finish: () => void): void {
      clearTimeout(timer)
      stream.off('data', onData).off('end', onEnd).off('close', onClose)
      finish()
    }
  })
}

function tooLarge(): AppError {
  return new AppError('TOO_LARGE', 'The request is larger than this call takes.')
}
