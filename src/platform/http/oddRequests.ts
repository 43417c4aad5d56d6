import { METHODS, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { AppError } from '../errors'
import { bodyOf, EARLY_REFUSAL_HEADERS } from './envelope'

/**
 * Handles requests that Node.js or Fastify would answer in another format than ours, before any hook. An unknown
 * expectation is ignored (RFC 9110 §10.1.1). A request with a method of RTSP, which the parser of Node.js accepts and
 * the router does not know, gets 400. Must be called before others listen to the requests of the server.
 */
export function answerOddRequests(app: FastifyInstance): void {
  const { server }: { server: Server } = app
  server.on('checkExpectation', (request, response) => server.emit('request', request, response))
  const handlers = server.listeners('request') as ((request: IncomingMessage, response: ServerResponse) => void)[]
  server.removeAllListeners('request')
  server.on('request', (request, response) => {
    if (METHODS.includes(request.method ?? '')) for (const handle of handlers) handle.call(server, request, response)
    else refuse(response)
  })
}

function refuse(response: ServerResponse): void {
  const failure = new AppError('INVALID_INPUT', 'This is not a valid HTTP request.')
  const body = JSON.stringify(bodyOf(failure))
  response
    .writeHead(failure.status, {
      ...EARLY_REFUSAL_HEADERS,
      'content-length': Buffer.byteLength(body),
      connection: 'close',
    })
    .end(body)
}
