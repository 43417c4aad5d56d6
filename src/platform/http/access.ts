import type { FastifyInstance, FastifyRequest, RouteOptions } from 'fastify'
import { ROLE_HEADER } from '../../contract/rules'
import { AppError } from '../errors'
import { networkOf, plainAddress } from '../accounts/clientAddress'
import type { Client, Sessions } from '../accounts/sessions'
import type { SessionUser } from '../state/accounts/sessions'

/** The access that a route requires. Every route declares it. */
export type Access = 'public' | 'user' | 'admin'

declare module 'fastify' {
  interface FastifyContextConfig {
    access?: Access
  }
  interface FastifyRequest {
    user: SessionUser | undefined
  }
}

/**
 * Checks the access of every request before its handler. A route under /api that does not declare its access cannot be
 * added. Answers with a session carry the user's role in a header.
 */
export function guardRoutes(app: FastifyInstance, sessions: Sessions): void {
  app.decorateRequest('user', undefined)
  app.addHook('onRoute', ({ url, config }: RouteOptions) => {
    if (url.startsWith('/api') && !config?.access) throw new Error(`The route ${url} has no access setting`)
  })
  app.addHook('onRequest', async (request, reply) => {
    const { access } = request.routeOptions.config
    if (!access || access === 'public') return
    request.user = await sessions.authenticate(bearerOf(request))
    reply.header(ROLE_HEADER, request.user.isAdmin ? 'admin' : 'user')
    if (access === 'admin' && !request.user.isAdmin)
      throw new AppError('NOT_ALLOWED', 'Only administrators may do this.')
  })
}

/** @returns the user of a request whose route requires a session */
export function userOf(request: FastifyRequest): SessionUser {
  if (!request.user) throw new Error('The route does not require a session')
  return request.user
}

export function addressOf({ ip }: FastifyRequest): string {
  return plainAddress(ip)
}

/** The client of a request, for sessions and rate limits. */
export function clientOf(request: FastifyRequest): Client {
  return { address: addressOf(request), network: networkOf(request.ip), device: request.headers['user-agent'] ?? '' }
}

/** The key that limits count against: the user, the user of a download ticket, or the client's network. */
export function clientKeyOf(request: FastifyRequest): { key: string; isUser: boolean } {
  const username = request.user?.username ?? request.activityActor
  return username === undefined
    ? { key: `address ${networkOf(request.ip)}`, isUser: false }
    : { key: `user ${username}`, isUser: true }
}

/** The token of an `Authorization: Bearer` header (RFC 6750 §2.1). */
function bearerOf({ headers }: FastifyRequest): string | undefined {
  return /^Bearer ([\w.~+/-]+=*)$/i.exec(headers.authorization ?? '')?.[1]
}
