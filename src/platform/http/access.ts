import type { FastifyInstance, FastifyRequest, RouteOptions } from 'fastify'
import { ROLE_HEADER } from '../../contract/rules'
import { AppError } from '../errors'
import { plainAddress } from '../accounts/clientAddress'
import { networkOf } from '../accounts/limits'
import type { Client, Sessions } from '../accounts/sessions'
import type { SessionUser } from '../state/sessions'

/** Who may make a call: anybody, who is signed in, or administrators. Every route says it. */
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
 * Checks, in one place and before any handler, that a request has the access its route asks for. A route under /api that
 * does not say its access cannot be added. Whoever is signed in is told their role with the answer.
 */
export function guardRoutes(app: FastifyInstance, sessions: Sessions): void {
  app.decorateRequest('user', undefined)
  app.addHook('onRoute', ({ url, config }: RouteOptions) => {
    if (url.startsWith('/api') && !config?.access) throw new Error(`The route ${url} does not say who may call it`)
  })
  app.addHook('onRequest', async (request, reply) => {
    const { access } = request.routeOptions.config
    if (!access || access === 'public') return
    request.user = await sessions.read(bearerOf(request))
    reply.header(ROLE_HEADER, request.user.isAdmin ? 'admin' : 'user')
    if (access === 'admin' && !request.user.isAdmin)
      throw new AppError('NOT_ALLOWED', 'Only administrators may do this.')
  })
}

/** The session of a request whose route asks for one. */
export function userOf(request: FastifyRequest): SessionUser {
  if (!request.user) throw new Error('The route does not ask for a session')
  return request.user
}

/** The client's address. */
export function addressOf({ ip }: FastifyRequest): string {
  return plainAddress(ip)
}

/** Where a request comes from, as sessions and limits take it. */
export function clientOf(request: FastifyRequest): Client {
  return { address: addressOf(request), network: networkOf(request.ip), device: request.headers['user-agent'] ?? '' }
}

/** Whose account a request counts against: its user, whoever a download ticket was issued to, else the client's network. */
export function payerOf(request: FastifyRequest): { key: string; isUser: boolean } {
  const username = request.user?.username ?? request.activityActor
  return username === undefined
    ? { key: `address ${networkOf(request.ip)}`, isUser: false }
    : { key: `user ${username}`, isUser: true }
}

/** The token of an `Authorization: Bearer` header (RFC 6750 §2.1). */
function bearerOf({ headers }: FastifyRequest): string | undefined {
  return /^Bearer ([\w.~+/-]+=*)$/i.exec(headers.authorization ?? '')?.[1]
}
