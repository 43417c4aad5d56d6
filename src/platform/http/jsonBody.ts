import type { Readable } from 'node:stream'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { AppError } from '../errors'

/**
 * Parses JSON bodies: an empty one is none, a slow one is refused, whatever the case of its media type. Only calls whose body is
 * read come here: the body of a GET is left alone.
 * @param timeoutMs how long a body may take to arrive, in milliseconds.
 */
export function readJsonBodies(app: FastifyInstance, timeoutMs: number): void {
  const parse = app.getDefaultJsonParser('error', 'error')
  app.removeContentTypeParser('application/json')
  app.addContentTypeParser('application/json', async (request: FastifyRequest, payload: Readable) => {
    const limit = request.routeOptions.bodyLimit
    if (Number(request.headers['content-length']) > limit) throw tooLarge()
    const text = await readText(payload, limit, timeoutMs)
    if (text === '') return undefined
    return new Promise((resolve, reject) => void parse(request, text, (error, body) => (error ? reject(error) : resolve(body))))
  })
}

/**
 * Reads a stream as UTF-8 text. On failure the stream is left as it is: destroying a request would close its connection before it is answered.
 * @throws AppError TOO_LARGE over the limit (bytes), TOO_SLOW after the time-out (milliseconds), INVALID_INPUT when the client disconnects
 */
function readText(stream: Readable, limit: number, timeoutMs: number): Promise<string> {
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
      if (length > limit) settle(() => reject(tooLarge()))
    }
    const onClose = () => settle(() => reject(incomplete))
    const onEnd = () => settle(() => resolve(Buffer.concat(chunks, length).toString('utf8')))
    const timer = setTimeout(() => settle(() => reject(new AppError('TOO_SLOW', 'The request took too long to arrive.'))), timeoutMs)
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
