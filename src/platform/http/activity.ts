import type { FastifyInstance, FastifyRequest, RouteOptions } from 'fastify'
import type { ActivityKind } from '../../contract/admin'
import type { ErrorCode } from '../../contract/errors'
import { plainAddress } from '../accounts/clientAddress'
import type { ActivityLog } from '../accounts/activityLog'

/** What the activity log records for a call; false for nothing. Every route that changes data must declare it. */
export type Activity =
  | false
  | {
      kind: ActivityKind
      /** In the past tense: `deleted deployment`. Null if a success needs no entry. */
      action: string | ((request: FastifyRequest) => string) | null
      /** The text for a failure, where `action` would mislead. */
      failure?: string | ((request: FastifyRequest) => string)
      /** The object of the action: a name or path, never a secret. The input may be invalid: see `fieldOf`. */
      subject?: (request: FastifyRequest) => string | null | undefined
    }

declare module 'fastify' {
  interface FastifyContextConfig {
    activity?: Activity
  }
  interface FastifyRequest {
    /** Set by a handler that knows the subject better than the declaration. Never a secret. */
    activitySubject: string | undefined
    /** Further changes that a successful call made. */
    activityConsequences: { kind: ActivityKind; action: string; subject: string }[] | undefined
    /** The username, if a call without a session identifies its user. */
    activityActor: string | undefined
    /** A copy of `request.ip`, which is undefined once the client has disconnected. */
    activityAddress: string
  }
}

/** The only failures recorded without a session. They are rate-limited, so that nobody can fill the log. */
const limitedFailures: (ErrorCode | undefined)[] = ['BAD_CREDENTIALS', 'INVALID_CODE', 'INVALID_INVITE']

/** Returns the value of one field of the request, unvalidated, if it is a string. */
export function fieldOf(
  part: 'params' | 'query' | 'body',
  name: string,
): (request: FastifyRequest) => string | undefined {
  return (request) => {
    const values: unknown = request[part]
    const value = typeof values === 'object' && values !== null ? (values as Record<string, unknown>)[name] : undefined
    return typeof value === 'string' ? value : undefined
  }
}

/**
 * Records who called what, when, from where and whether it succeeded, or why not; never a body. Records when the
 * response is ready, so that a client that disconnects is recorded too. A route under /api that changes data without
 * declaring its `activity` cannot be added. Must be registered before `guardRoutes`, whose refusals are recorded too.
 */
export function recordActivity(app: FastifyInstance, log: Pick<ActivityLog, 'record'>): void {
  app.decorateRequest('activitySubject', undefined)
  app.decorateRequest('activityConsequences', undefined)
  app.decorateRequest('activityActor', undefined)
  app.decorateRequest('activityAddress', '')
  app.addHook('onRoute', ({ url, method, config }: RouteOptions) => {
    const changes = [method].flat().some((name) => !['GET', 'HEAD', 'OPTIONS'].includes(name))
    if (url.startsWith('/api') && changes && config?.activity === undefined)
      throw new Error(`The route ${String(method)} ${url} has no activity setting`)
  })
  // Node.js caches the address on first access, so it survives an immediate reset by the client.
  app.server.on('connection', ({ remoteAddress }) => remoteAddress)
  app.addHook('onRequest', async (request) => {
    // Undefined if the reset came even earlier. The entry then has no address.
    const address: string | undefined = request.ip
    request.activityAddress = plainAddress(address ?? '')
  })
  app.addHook('onSend', async (request, reply) => {
    try {
      record(request, reply.statusCode < 400)
    } catch (error) {
      request.log.error({ err: error }, 'failed to record a request in the activity log')
    }
  })

  function record(request: FastifyRequest, succeeded: boolean): void {
    const { activity } = request.routeOptions.config
    if (!activity || request.method === 'HEAD') return
    const username = request.user?.username ?? request.activityActor ?? null
    // Scanners without a session would fill the log.
    if (!succeeded && username === null && !limitedFailures.includes(request.failure)) return
    if (request.failure === 'TOO_MANY_TRIES') return
    const { kind } = activity
    const text = succeeded ? activity.action : (activity.failure ?? activity.action)
    if (text === null) return
    const action = typeof text === 'function' ? text(request) : text
    const by = {
      username,
      address: request.activityAddress,
      succeeded,
      // Only the code, because the text may quote the request.
      failure: succeeded ? null : (request.failure ?? null),
      api_key: request.user?.key?.name ?? null,
    }
    log.record({ ...by, kind, action, subject: request.activitySubject ?? activity.subject?.(request) ?? null })
    if (succeeded) for (const consequence of request.activityConsequences ?? []) log.record({ ...by, ...consequence })
  }
}
