import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { ApiKeysResponse, UserAccess, UserAccessResponse } from '../../../contract/access'
import { OwnSessionsResponse } from '../../../contract/signIn/auth'
import { Done } from '../../../contract/envelope'
import { UserMethodsResponse } from '../../../contract/signIn/signInMethods'
import type { ApiKeys } from '../../accounts/apiKeys'
import type { Sessions } from '../../accounts/sessions'
import type { SignInMethods } from '../../accounts/signInMethods'
import type { ChangedRights, Users } from '../../accounts/users'
import { forAdministrators, userOf } from '../access'
import { fieldOf, type Activity } from '../activity'
import { done } from '../envelope'
import { call } from '../openapi/call'
import type { Router } from '../router'

export const UserId = z.coerce.number().int().positive()
const ById = z.strictObject({ id: UserId })
const OfUser = z.strictObject({ id: UserId, of: z.uuid() })

/** Identifies the user by id until the name is known. */
export const userIdSubject = (request: FastifyRequest) => `#${fieldOf('params', 'id')(request) ?? ''}`

/** Records whose rights were changed, and the invites that ended with them. */
export function recordChange(request: FastifyRequest, { username, revokedInvites }: ChangedRights): void {
  request.activitySubject = username
  const action = `revoked invite code of ${username}`
  request.activityConsequences = revokedInvites.map((message) => ({ kind: 'invite', action, subject: message }))
}

export interface UserAdministration {
  users: Pick<Users, 'access' | 'setAccess'>
  sessions: Pick<Sessions, 'list' | 'endOwn' | 'endAll'>
  apiKeys: Pick<ApiKeys, 'list' | 'remove'>
  signInMethods: Pick<SignInMethods, 'listAll'>
}

const config = { access: forAdministrators }
const recorded = (kind: 'user' | 'session' | 'key', action: string) => ({
  ...config,
  activity: { kind, action, subject: userIdSubject } satisfies Activity,
})

/**
 * Adds the calls for one user's rights (decisions §16), and for their sign-in methods, sessions and API keys (our
 * extras).
 */
export function userAdminRoutes(app: Router, parts: UserAdministration): void {
  accessRoutes(app, parts)
  sessionRoutes(app, parts)
  keyRoutes(app, parts)
}

function accessRoutes(app: Router, { users, signInMethods }: UserAdministration): void {
  app.get(
    '/api/users/:id/access',
    {
      config,
      schema: {
        ...call('getUserAccess', 'Get the role and the grants of a user', 'NOT_FOUND'),
        params: ById,
        response: { 200: UserAccessResponse },
      },
    },
    async ({ params }) => done((await users.access(params.id)).access),
  )

  app.put(
    '/api/users/:id/access',
    {
      config: recorded('user', 'changed the rights of'),
      schema: {
        ...call('setUserAccess', 'Set the role and the grants of a user', 'NOT_FOUND', 'CONFLICT'),
        params: ById,
        body: UserAccess,
        response: { 200: Done },
      },
    },
    async (request) => {
      recordChange(request, await users.setAccess(userOf(request), request.params.id, request.body))
      return done({})
    },
  )

  app.get(
    '/api/users/:id/methods',
    {
      config,
      schema: {
        ...call('listUserMethods', 'List the ways in which a user signs in', 'NOT_FOUND'),
        params: ById,
        response: { 200: UserMethodsResponse },
      },
    },
    async ({ params }) => done(await signInMethods.listAll(params.id)),
  )
}

function sessionRoutes(app: Router, { users, sessions }: UserAdministration): void {
  app.get(
    '/api/users/:id/sessions',
    {
      config,
      schema: {
        ...call('listUserSessions', 'List the sessions of a user', 'NOT_FOUND'),
        params: ById,
        response: { 200: OwnSessionsResponse },
      },
    },
    async (request) => {
      const { id } = request.params
      await users.access(id)
      return done({ sessions: await sessions.list({ userId: id, sessionId: userOf(request).sessionId }) })
    },
  )

  app.delete(
    '/api/users/:id/sessions',
    {
      config: recorded('session', 'ended all sessions of'),
      schema: {
        ...call('endUserSessions', 'End all sessions of a user', 'NOT_FOUND'),
        params: ById,
        response: { 200: Done },
      },
    },
    async (request) => {
      request.activitySubject = (await users.access(request.params.id)).username
      await sessions.endAll(request.params.id)
      return done({})
    },
  )

  app.delete(
    '/api/users/:id/sessions/:of',
    {
      config: recorded('session', 'ended a session of'),
      schema: {
        ...call('endUserSession', 'End one session of a user', 'NOT_FOUND'),
        params: OfUser,
        response: { 200: Done },
      },
    },
    async (request) => {
      const { id, of } = request.params
      request.activitySubject = (await users.access(id)).username
      await sessions.endOwn({ userId: id }, of)
      return done({})
    },
  )
}

function keyRoutes(app: Router, { users, apiKeys }: UserAdministration): void {
  app.get(
    '/api/users/:id/keys',
    {
      config,
      schema: {
        ...call('listUserKeys', 'List the API keys of a user', 'NOT_FOUND'),
        params: ById,
        response: { 200: ApiKeysResponse },
      },
    },
    async ({ params }) => {
      await users.access(params.id)
      return done({ keys: await apiKeys.list(params.id) })
    },
  )

  app.delete(
    '/api/users/:id/keys/:of',
    {
      config: recorded('key', 'deleted API key of'),
      schema: {
        ...call('deleteUserKey', 'Delete an API key of a user', 'NOT_FOUND'),
        params: OfUser,
        response: { 200: Done },
      },
    },
    async (request) => {
      const { id, of } = request.params
      const { username } = await users.access(id)
      request.activitySubject = `${username}: ${await apiKeys.remove(id, of)}`
      return done({})
    },
  )
}
