import type { FastifyInstance } from 'fastify'
import { AppError } from '../errors'

/**
 * Answers 405 with `Allow` where a call under /api exists with another method (RFC 9110 §15.5.6), before the body of the
 * request is read. Must be called before routes are added.
 */
export function refuseOtherMethods(app: FastifyInstance): void {
  const routes = new Map<string, { pattern: RegExp; methods: string[] }>()
  app.addHook('onRoute', ({ url, method }) => {
    if (!url.startsWith('/api/')) return
    const route = routes.get(url) ?? { pattern: patternOf(url), methods: [] }
    route.methods.push(...[method].flat())
    routes.set(url, route)
  })
  app.addHook('onRequest', async (request, reply) => {
    if (!request.is404) return
    const path = request.url.split('?', 1)[0] ?? ''
    const allowed = [...routes.values()].flatMap(({ pattern, methods }) => (pattern.test(path) ? methods : []))
    // With this method the router has refused the path for another reason.
    if (allowed.length === 0 || allowed.includes(request.method)) return
    reply.header('allow', [...new Set(allowed)].sort().join(', '))
    throw new AppError('METHOD_NOT_ALLOWED', `This call does not exist with the method ${request.method}.`)
  })
}

/** Matches the paths of a route such as `/api/users/:id`. */
function patternOf(url: string): RegExp {
  const segments = url.split('/').map((segment) => (segment.startsWith(':') ? '[^/]+' : segment.replaceAll('.', '\\.')))
  return new RegExp(`^${segments.join('/')}$`)
}
