import { z } from 'zod'
import { AccountResponse, ApiKeysResponse, CreateApiKey, CreatedApiKeyResponse } from '../../../../contract/access'
import { Done } from '../../../../contract/envelope'
import type { ApiKeys } from '../../../accounts/apiKeys'
import type { Sessions } from '../../../accounts/sessions'
import { knownTo } from '../../../caller'
import { sessionUserOf, userOf } from '../../access'
import { fieldOf, type Activity } from '../../activity'
import { done } from '../../envelope'
import { call } from '../../openapi/call'
import type { Router } from '../../router'

const ById = z.strictObject({ id: z.uuid() })

/** Adds the calls for the caller's own rights (our extra) and the user's own API keys (decisions §16). */
export function keyRoutes(
  app: Router,
  {
    apiKeys,
    sessions,
  }: { apiKeys: Pick<ApiKeys, 'list' | 'create' | 'remove'>; sessions: Pick<Sessions, 'previousSignIn'> },
): void {
  const recorded = (activity: Activity) => ({ access: 'account' as const, activity })

  app.get(
    '/api/account',
    {
      config: { access: 'caller' },
      schema: {
        ...call('getAccount', 'Get the caller with their rights'),
        response: { 200: AccountResponse },
      },
    },
    async (request) => {
      const caller = userOf(request)
      const { userId, username, role, grants, key, sessionId } = caller
      const isKnown = knownTo(caller)
      const previous = sessionId === undefined ? undefined : await sessions.previousSignIn(sessionId)
      return done({
        id: userId,
        username,
        role,
        grants: [...grants]
          .filter(([deployment]) => isKnown(deployment))
          .map(([deployment, rights]) => ({ deployment, rights: [...rights] })),
        ...(key && {
          key: {
            name: key.name,
            scopes: [...key.scopes],
            ...(key.deployments && { deployments: [...key.deployments] }),
          },
        }),
        ...(previous && { previous_sign_in: previous }),
      })
    },
  )

  app.get(
    '/api/keys',
    {
      config: { access: 'account' },
      schema: { ...call('listKeys', 'List the own API keys'), response: { 200: ApiKeysResponse } },
    },
    async (request) => done({ keys: await apiKeys.list(sessionUserOf(request).userId) }),
  )

  app.post(
    '/api/keys',
    {
      config: recorded({ kind: 'key', action: 'created API key', subject: fieldOf('body', 'name') }),
      schema: {
        ...call('createKey', 'Create an API key, which only this response contains', 'CONFLICT'),
        body: CreateApiKey,
        response: { 201: CreatedApiKeyResponse },
      },
    },
    async (request, reply) => reply.code(201).send(done(await apiKeys.create(sessionUserOf(request), request.body))),
  )

  app.delete(
    '/api/keys/:id',
    {
      config: recorded({ kind: 'key', action: 'deleted API key' }),
      schema: {
        ...call('deleteKey', 'Delete one of the own API keys', 'NOT_FOUND'),
        params: ById,
        response: { 200: Done },
      },
    },
    async (request) => {
      request.activitySubject = await apiKeys.remove(sessionUserOf(request).userId, request.params.id)
      return done({})
    },
  )
}
