import type { FastifyInstance } from 'fastify'
import { AppError } from '../errors'

/**
 * Answers 405 with `Allow` where a call under /api exists with another method (RFC 9110 §15.5.6), before the body of
 * the request is read. Must be called before routes are added.
 */
export function refuseOtherMethods(app: FastifyInstance): void {
  const routes = new Map<string, { segments: string[]; methods: string[] }>()
  app.addHook('onRoute', ({ url, method }) => {
    if (!url.startsWith('/api/')) return
    const methods = [...(routes.get(url)?.methods ?? []), ...[method].flat()]
    routes.set(url, { segments: url.split('/'), methods })
  })
  app.addHook('onRequest', async (request, reply) => {
    if (!request.is404) return
    const path = request.url.split('?', 1)[0] ?? ''
    // Once for all routes, because anybody may send thousands of slashes.
    const segments = path.split('/')
    // A route's literal path, such as `/confirm`, takes precedence over another route's parameter.
    const allowed =
      routes.get(path)?.methods ??
      [...routes.values()].flatMap((route) => (isPathOf(route.segments, segments) ? route.methods : []))
    // The method is allowed, so the router refused the path for another reason.
    if (allowed.length === 0 || allowed.includes(request.method)) return
    reply.header('allow', [...new Set(allowed)].sort().join(', '))
    throw new AppError('METHOD_NOT_ALLOWED', `This call does not exist with the method ${request.method}.`)
  })
}

/** Whether a path is one of a route such as `/api/users/:id`, both as their segments. */
function isPathOf(expected: string[], segments: string[]): boolean {
  return (
    expected.length === segments.length &&
    expected.every((segment, at) => (segment.startsWith(':') ? segments[at] !== '' : segment === segments[at]))
  )
}
