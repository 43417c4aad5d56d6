import type { FastifyInstance, FastifyRequest, RouteOptions } from 'fastify'
import type { ActivityKind } from '../../contract/admin'
import type { ErrorCode } from '../../contract/errors'
import { plainAddress } from '../accounts/clientAddress'
import type { ActivityLog } from '../accounts/activityLog'

/**
 * What the activity log says of a call, or false where it says nothing. Every route that changes something declares it;
 * one that only reads may (a download).
 */
export type Activity =
  | false
  | {
      kind: ActivityKind
      /** In words of the past: `deleted deployment`. Null where a success is not worth an entry. */
      action: string | ((request: FastifyRequest) => string) | null
      /** The words for when it was refused or failed, where the same ones would mislead. */
      failure?: string | ((request: FastifyRequest) => string)
      /** What it was done to. Only a name, path or the like, never a secret. The input may be invalid: see `fieldOf`. */
      subject?: (request: FastifyRequest) => string | null | undefined
    }

declare module 'fastify' {
  interface FastifyContextConfig {
    activity?: Activity
  }
  interface FastifyRequest {
    /** A handler that knows better than the declaration what it was done to sets this. Never a secret. */
    activitySubject: string | undefined
    /** The username, where a call without a session makes out who it is. */
    activityActor: string | undefined
    /** Where it comes from: `request.ip`, which is gone once the client has hung up. */
    activityAddress: string
  }
}

/** Calls without a session are recorded for these only: they are limited by tries, so nobody can fill the log with them. */
const limitedFailures: (ErrorCode | undefined)[] = ['BAD_CREDENTIALS', 'INVALID_CODE', 'INVALID_INVITE']

/** A subject that is one field of the request as it was sent, where it is a text. */
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
 * Records what is done by calls: who, what, when, from where, and whether it was done or refused; never a body. It waits for
 * the answer, not for the client to take it: who hangs up is recorded all the same. A route under /api that changes
 * something and does not declare its `activity` cannot be added. Comes before `guardRoutes`, whose refusals are recorded too.
 */
export function recordActivity(app: FastifyInstance, log: Pick<ActivityLog, 'record'>): void {
  app.decorateRequest('activitySubject', undefined)
  app.decorateRequest('activityActor', undefined)
  app.decorateRequest('activityAddress', '')
  app.addHook('onRoute', ({ url, method, config }: RouteOptions) => {
    const changes = [method].flat().some((name) => !['GET', 'HEAD', 'OPTIONS'].includes(name))
    if (url.startsWith('/api') && changes && config?.activity === undefined)
      throw new Error(`The route ${String(method)} ${url} does not say what the activity log records`)
  })
  // Asked for once, Node.js remembers it: who sends a call and resets the connection at once is known by it all the same.
  app.server.on('connection', ({ remoteAddress }) => remoteAddress)
  app.addHook('onRequest', async (request) => {
    // Gone even so when the reset came first; then the entry is without it.
    const address: string | undefined = request.ip
    request.activityAddress = plainAddress(address ?? '')
  })
  app.addHook('onSend', async (request, reply) => {
    try {
      record(request, reply.statusCode < 400)
    } catch (error) {
      request.log.error({ err: error }, 'what a request did could not be recorded')
    }
  })

  function record(request: FastifyRequest, succeeded: boolean): void {
    const { activity } = request.routeOptions.config
    if (!activity || request.method === 'HEAD') return
    const username = request.user?.username ?? request.activityActor ?? null
    // No session, and none asked for: scanners would fill the log.
    if (!succeeded && username === null && !limitedFailures.includes(request.failure)) return
    if (request.failure === 'TOO_MANY_TRIES') return
    const { kind } = activity
    const words = succeeded ? activity.action : (activity.failure ?? activity.action)
    if (words === null) return
    const action = typeof words === 'function' ? words(request) : words
    log.record({
      username,
      kind,
      action,
      subject: request.activitySubject ?? activity.subject?.(request) ?? null,
      address: request.activityAddress,
      succeeded,
    })
  }
}
