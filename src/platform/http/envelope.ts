import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { ConnectionError, FastifyInstance, FastifyError, FastifyReply } from 'fastify'
import type { ErrorCode, Failure } from '../../contract/errors'
import { AppError } from '../errors'
import { stateFailure } from '../state/db'
import { drainRequest } from './drainRequest'

declare module 'fastify' {
  interface FastifyRequest {
    /** The code of the failure that was sent. */
    failure: ErrorCode | undefined
  }
}

/** The body of a successful response (decisions §1). */
export function done<Data extends object>(data: Data): { success: true; data: Data } {
  return { success: true, data }
}

const CONTENT_HEADERS = [
  'accept-ranges',
  'cache-control',
  'content-disposition',
  'content-encoding',
  'content-length',
  'content-range',
  'content-type',
  'etag',
  'last-modified',
]

/** Removes the headers of a body that is not sent after all. */
export function removeContentHeaders(reply: FastifyReply): void {
  for (const name of CONTENT_HEADERS) reply.removeHeader(name)
}

/** Converts every failure to a response of decisions §1. The only place that does so. */
export function answerFailures(app: FastifyInstance): void {
  app.decorateRequest('failure', undefined)
  app.setErrorHandler((thrown: FastifyError, request, reply) => {
    const failure = expected(thrown)
    request.failure = failure?.code ?? 'INTERNAL'
    // Fastify has set the headers of a stream that fails before its first byte, and would send the failure as its
    // content.
    if (reply.raw.getHeaderNames().length > 0) removeContentHeaders(reply)
    // A client that was too slow gets no more time.
    if (failure?.code !== 'TOO_SLOW') drainRequest(request, reply)
    if (!failure) {
      request.log.error({ err: thrown }, 'a request failed')
      return reply
        .code(500)
        .send(
          bodyOf(
            new AppError('INTERNAL', `Something went wrong on the server. See its log for request ${request.id}.`),
          ),
        )
    }
    const { retryAfterSeconds } = failure.details
    if (failure.status >= 500) request.log.warn({ err: thrown }, 'a request could not be served')
    if (retryAfterSeconds !== undefined) reply.header('retry-after', retryAfterSeconds)
    return reply.code(failure.status).send(bodyOf(failure))
  })
}

/** The headers of a refusal that is sent before the hooks run, which set them for every other response. */
export const EARLY_REFUSAL_HEADERS = {
  'content-type': 'application/json; charset=utf-8',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
}

/** For `clientErrorHandler`: answers what Node.js could not parse in the same format, and closes the connection. */
export function answerUnreadable(error: ConnectionError, socket: Socket): void {
  // The client is gone, or a response has begun, and the client would read this one as part of it.
  if (error.code === 'ECONNRESET' || !socket.writable || isAnswering(socket)) {
    socket.destroy()
    return
  }
  const failure =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? new AppError('HEADER_TOO_LARGE', 'The request’s header is too large.')
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? new AppError('TOO_SLOW', 'The request did not arrive in time.')
        : new AppError('INVALID_INPUT', 'This is not a valid HTTP request.')
  const body = JSON.stringify(bodyOf(failure))
  const head = [
    `HTTP/1.1 ${failure.status} ${STATUS_CODES[failure.status]}`,
    ...Object.entries(EARLY_REFUSAL_HEADERS).map(([name, value]) => `${name}: ${value}`),
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy())
}

/** The response in progress, which Node.js documents under this name for `clientError`. */
function isAnswering(socket: Socket & { _httpMessage?: { headersSent: boolean } | null }): boolean {
  return socket._httpMessage?.headersSent ?? false
}

/** The body of a failed response (decisions §1). */
export function bodyOf({ code, message, details: { field, line } }: AppError): Failure {
  return {
    success: false,
    code,
    message,
    error: message,
    ...(field !== undefined && { field }),
    ...(line !== undefined && { line }),
  }
}

function expected(thrown: FastifyError): AppError | undefined {
  const error = stateFailure(thrown)
  if (error instanceof AppError) return error
  if (thrown.code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE')
    return new AppError('INVALID_INPUT', 'The Content-Type must be application/json.')
  if (thrown.statusCode === 400) return new AppError('INVALID_INPUT', 'The request’s body is not valid JSON.')
  // Conditional and range requests for files of the page (RFC 9110 §13.1, §14.2).
  if (thrown.statusCode === 412) return new AppError('CONFLICT', 'The file has changed since it was requested.')
  if (thrown.statusCode === 416) return new AppError('RANGE_NOT_SATISFIABLE', 'The file ends before this range.')
  return undefined
}
