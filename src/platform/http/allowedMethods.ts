import type { FastifyInstance } from 'fastify'
import { AppError } from '../errors'

/**
 * Answers 405 with `Allow` where a call under /api exists with another method (RFC 9110 §15.5.6), before the body of
 * the request is read. Must be called before routes are added.
 */
export function refuseOtherMethods(app: FastifyInstance): void {
  const routes = new Map<string, string[]>()
  app.addHook('onRoute', ({ url, method }) => {
    if (!url.startsWith('/api/')) return
    routes.set(url, [...(routes.get(url) ?? []), ...[method].flat()])
  })
  app.addHook('onRequest', async (request, reply) => {
    if (!request.is404) return
    const path = request.url.split('?', 1)[0] ?? ''
    // A route's literal path, such as `/confirm`, takes precedence over another route's parameter.
    const allowed =
      routes.get(path) ?? [...routes].flatMap(([route, methods]) => (isPathOf(route, path) ? methods : []))
    // The method is allowed, so the router refused the path for another reason.
    if (allowed.length === 0 || allowed.includes(request.method)) return
    reply.header('allow', [...new Set(allowed)].sort().join(', '))
    throw new AppError('METHOD_NOT_ALLOWED', `This call does not exist with the method ${request.method}.`)
  })
}

/** Whether a path is one of a route such as `/api/users/:id`. */
function isPathOf(route: string, path: string): boolean {
  const [expected, segments] = [route.split('/'), path.split('/')]
  return (
    expected.length === segments.length &&
    expected.every((segment, at) => (segment.startsWith(':') ? segments[at] !== '' : segment === segments[at]))
  )
}
