import { z } from 'zod'
import { ChangePassword, OwnSessionsResponse } from '../../../../contract/signIn/auth'
import { Done } from '../../../../contract/envelope'
import type { OwnPassword } from '../../../accounts/ownPassword'
import type { Sessions } from '../../../accounts/sessions'
import { addressOf, sessionUserOf } from '../../access'
import type { Activity } from '../../activity'
import { done } from '../../envelope'
import { call } from '../../openapi/call'
import type { Router } from '../../router'

const ById = z.strictObject({ id: z.uuid() })

/** Adds the calls for a user's own sessions and password (our extras). */
export function accountRoutes(
  app: Router,
  { sessions, ownPassword }: { sessions: Sessions; ownPassword: OwnPassword },
): void {
  const recorded = (action: string) => ({
    access: 'account' as const,
    activity: { kind: 'session', action } satisfies Activity,
  })

  app.get(
    '/api/sessions',
    {
      config: { access: 'account' },
      schema: { ...call('listSessions', 'List the own sessions'), response: { 200: OwnSessionsResponse } },
    },
    async (request) => done({ sessions: await sessions.list(sessionUserOf(request)) }),
  )

  app.delete(
    '/api/sessions/:id',
    {
      config: recorded('ended own session'),
      schema: {
        ...call('endSession', 'End one of the own sessions', 'NOT_FOUND'),
        params: ById,
        response: { 200: Done },
      },
    },
    async (request) => {
      await sessions.endOwn(sessionUserOf(request), request.params.id)
      return done({})
    },
  )

  app.delete(
    '/api/sessions',
    {
      config: recorded('ended all other own sessions'),
      schema: { ...call('endOtherSessions', 'End all own sessions except this one'), response: { 200: Done } },
    },
    async (request) => {
      await sessions.endOthers(sessionUserOf(request))
      return done({})
    },
  )

  app.post(
    '/api/auth/change-password',
    {
      config: recorded('changed own password'),
      schema: {
        ...call(
          'changePassword',
          'Change the own password',
          'BAD_CREDENTIALS',
          'INVALID_CODE',
          'STEP_EXPIRED',
          'CONFLICT',
        ),
        body: ChangePassword,
        response: { 200: Done },
      },
    },
    async (request) => {
      await ownPassword.change(sessionUserOf(request), request.body, addressOf(request))
      return done({})
    },
  )
}
