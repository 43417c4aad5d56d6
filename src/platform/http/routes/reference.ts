import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../../errors'

/** Swagger UI has a style sheet, and sets styles of elements by script, which the policy need not allow. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const FILES = ['start.js', 'swagger-ui.css', 'swagger-ui-bundle.js']

/**
 * Adds the page that shows the description of all calls, with its files. They are not part of the console, which does
 * not load them.
 * @param directory where the build put them
 */
export function referenceRoutes(app: FastifyInstance, directory: string): void {
  const options = {
    config: { access: 'public' },
    schema: { hide: true },
    // Runs after the hooks of the app, whose headers are for responses with data.
    onSend: async (_request: FastifyRequest, reply: FastifyReply) => {
      reply.header('content-security-policy', CONTENT_SECURITY_POLICY)
      if (reply.statusCode < 400) reply.header('cache-control', 'no-cache')
    },
  } as const
  const send = (reply: FastifyReply, name: string) => {
    if (app.hasReplyDecorator('sendFile') && existsSync(join(directory, name))) return reply.sendFile(name, directory)
    throw new AppError('NOT_CONFIGURED', 'The API reference is not built. Run: npm run build')
  }

  app.get('/api/docs', options, async (_request, reply) => send(reply, 'index.html'))
  for (const name of FILES) app.get(`/api/docs/${name}`, options, async (_request, reply) => send(reply, name))
}
