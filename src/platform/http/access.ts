import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import type { Right, Scope } from '../../contract/access'
import { ROLE_HEADER } from '../../contract/rules'
import { RATE_LIMIT_POLICY } from '../accounts/apiKeys'
import { credentialOf, requireRight, requireRole, requireScope, scopeOf, type Caller } from '../caller'
import { bearerOf, type Callers } from '../accounts/callers'
import { networkOf, plainAddress } from '../accounts/clientAddress'
import { noSession, type Client } from '../accounts/sessions'
import { AppError } from '../errors'
import type { SessionUser } from '../state/accounts/sessions'
import { createAuthenticationLimit, createCallLimit } from './limits/callLimit'

/**
 * The access that a route requires. Every route declares it:
 * - `public`: nothing.
 * - `caller`: a session or any API key.
 * - `account`: a session. API keys are refused, because the call concerns the user's own account.
 * - an object: a session, or an API key with the scope.
 */
export type Access = 'public' | 'caller' | 'account' | Requirement

export interface Requirement {
  scope: Scope
  /** The least role. Default: any. */
  role?: 'operator' | 'administrator'
  /** The right on the deployment that the parameter `name` names. */
  right?: Right
  /**
   * The right that the handler itself requires (`requireRight`), because the deployment follows from a path, a body or
   * a list: it leaves other deployments out of its response.
   */
  checks?: Right
}

/** For every signed-in user. The response says nothing about single deployments. */
export const forAnyone = (scope: Scope) => ({ scope }) as const
/** For operators and administrators. */
export const forOperators = (scope: Scope) => ({ scope, role: 'operator' }) as const
export const forAdministrators = { scope: 'admin', role: 'administrator' } as const
/** For those who have a right on the deployment that the parameter `name` names. */
export const forDeployment = (right: Right) => ({ scope: scopeOf(right), right }) as const
/** For routes whose handler checks the right itself. */
export const checkedByHandler = (right: Right, scope: Scope = scopeOf(right)) => ({ scope, checks: right }) as const

declare module 'fastify' {
  interface FastifyContextConfig {
    access?: Access
  }
  interface FastifyRequest {
    user: Caller | undefined
    /** Looks the caller up again, see `presentUserOf`. */
    renewUser: (() => Promise<Caller>) | undefined
  }
}

/** Limit of concurrent authentications per token. */
const MAX_CONCURRENT_PER_TOKEN = 4

/**
 * How long a call may rely on the rights that it was admitted with: its body may take 20 seconds to arrive, and it may
 * be queued for minutes. Together with RELY_MS of presentCallers.ts this makes one second.
 */
const RIGHTS_MS = 500

/**
 * Checks the access of every request before its body is read, and again before its handler if that took long. A route
 * under /api that does not declare its access cannot be added. Responses to a caller carry the user's role in a header;
 * responses to an API key also carry the rest of its limit.
 */
export function guardRoutes(
  app: FastifyInstance,
  callers: Pick<Callers, 'authenticate' | 'known' | 'present'>,
  perNetwork = createAuthenticationLimit(),
): void {
  const perToken = createCallLimit(MAX_CONCURRENT_PER_TOKEN)
  app.decorateRequest('user', undefined)
  app.decorateRequest('renewUser', undefined)
  app.addHook('onRoute', ({ url, config }: RouteOptions) => {
    if (url.startsWith('/api') && !config?.access) throw new Error(`The route ${url} has no access setting`)
  })
  app.addHook('onRequest', async (request, reply) => {
    const { access } = request.routeOptions.config
    if (!access || access === 'public') return
    const token = bearerOf(request.headers.authorization)
    const authenticate = () => {
      const network = networkOf(request.ip)
      const ask = () =>
        callers.authenticate(token, ({ remaining, secondsLeft }) =>
          limitHeaders(reply, Math.max(0, remaining), secondsLeft),
        )
      return perToken(token ?? network, () => perNetwork(network, ask, since))
    }
    const since = performance.now()
    const allow = (caller: Caller) => {
      request.user = caller
      reply.header(ROLE_HEADER, roleHeaderOf(caller))
      if (typeof access === 'object') requireAccess(caller, access, request)
      else if (access === 'account' && caller.key)
        throw new AppError('NOT_ALLOWED', 'This call concerns the account itself: sign in, an API key cannot make it.')
      return caller
    }
    const caller = allow((token !== undefined && callers.known(token)) || (await authenticate()))
    const credential = credentialOf(caller)
    let checkedAt = performance.now()
    request.renewUser = async () => {
      if (performance.now() - checkedAt < RIGHTS_MS) return userOf(request)
      const present = await callers.present(credential)
      if (!present) throw noSession()
      checkedAt = performance.now()
      return allow(present)
    }
  })
  app.addHook('preHandler', async ({ renewUser }) => {
    await renewUser?.()
  })
}

function requireAccess(caller: Caller, { role, right, scope }: Requirement, request: FastifyRequest): void {
  const name = (request.params as { name?: string }).name ?? ''
  // The right first: a deployment that the caller must not know of is answered as missing.
  if (right) requireRight(caller, right, name, scope)
  else requireScope(caller, scope)
  if (role) requireRole(caller, role, right !== undefined)
}

/** RateLimit-Policy and RateLimit (draft-ietf-httpapi-ratelimit-headers-10). */
function limitHeaders(reply: FastifyReply, remaining: number, secondsLeft: number): void {
  reply.header('ratelimit-policy', RATE_LIMIT_POLICY).header('ratelimit', `"key";r=${remaining};t=${secondsLeft}`)
}

const roleHeaderOf = ({ isAdmin, role }: Caller) => {
  if (isAdmin) return 'admin'
  return role === 'limited' ? 'limited' : 'user'
}

/** @returns the caller of a request whose route requires one */
export function userOf(request: FastifyRequest): Caller {
  if (!request.user) throw new Error('The route does not require a caller')
  return request.user
}

/**
 * Reads the caller with their present rights, for a handler that has waited in a queue.
 * @throws AppError NO_SESSION, NOT_ALLOWED or NOT_FOUND if the caller may not make the call any more
 */
export async function presentUserOf({ renewUser }: FastifyRequest): Promise<Caller> {
  if (!renewUser) throw new Error('The route does not require a caller')
  return renewUser()
}

/** @returns the user of a request whose route has the access `account` */
export function sessionUserOf(request: FastifyRequest): SessionUser {
  const caller = userOf(request)
  if (caller.sessionId === undefined) throw new Error('The route does not require a session')
  return { ...caller, sessionId: caller.sessionId }
}

/** The address of a client in the form that a socket has, without port and brackets. */
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
