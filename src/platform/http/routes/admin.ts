import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import {
  ActivityResponse,
  ActivityQuery,
  CreateInviteCode,
  DeleteInviteCode,
  InviteCodeResponse,
  InviteCodesResponse,
  SetAdmin,
  SetPassword,
  UsersResponse,
} from '../../../contract/admin'
import { Done } from '../../../contract/envelope'
import { NO_NUL, NUL_FREE } from '../../../contract/pageRules'
import type { ActivityLog } from '../../accounts/activityLog'
import type { Invites } from '../../accounts/invites'
import type { Users } from '../../accounts/users'
import { forAdministrators, userOf } from '../access'
import { fieldOf, type Activity } from '../activity'
import { done } from '../envelope'
import { call } from '../openapi/call'
import type { Router } from '../router'
import { recordChange, UserId, userIdSubject } from './userAdmin'

const ById = z.strictObject({ id: UserId })
const ByCode = z.strictObject({ code: z.string().min(1).max(64).regex(NUL_FREE, NO_NUL) })

const adminAction = ({ body }: FastifyRequest) =>
  SetAdmin.safeParse(body).data?.is_admin ? 'made administrator' : 'took administrator rights from'

const passwordAction = ({ body }: FastifyRequest) =>
  SetPassword.safeParse(body).data?.endOtherAccess
    ? 'reset password and ended all other access of'
    : 'reset password of'

export interface Administration {
  users: Users
  invites: Invites
  activityLog: Pick<ActivityLog, 'list'>
}

const config = { access: forAdministrators }
const recorded = (activity: Activity) => ({ ...config, activity })

/** Adds the calls for users, invite codes and the activity log (product §7, Administration). */
export function adminRoutes(app: Router, { users, invites, activityLog }: Administration): void {
  userRoutes(app, users)
  inviteRoutes(app, invites)

  app.get(
    '/api/activity',
    {
      config,
      schema: {
        ...call('listActivity', 'List the entries of the activity log, newest first'),
        querystring: ActivityQuery,
        response: { 200: ActivityResponse },
      },
    },
    async ({ query }) => done(await activityLog.list(query)),
  )
}

function userRoutes(app: Router, users: Users): void {
  app.get(
    '/api/users',
    { config, schema: { ...call('listUsers', 'List the users'), response: { 200: UsersResponse } } },
    async () => done({ users: await users.list() }),
  )

  app.patch(
    '/api/users/:id/admin',
    {
      config: recorded({ kind: 'user', action: adminAction, subject: userIdSubject }),
      schema: {
        ...call('setAdministrator', 'Give a user administrator rights, or remove them', 'NOT_FOUND', 'CONFLICT'),
        params: ById,
        body: SetAdmin,
        response: { 200: Done },
      },
    },
    async (request) => {
      recordChange(request, await users.setAdmin(userOf(request), request.params.id, request.body.is_admin))
      return done({})
    },
  )

  app.patch(
    '/api/users/:id/password',
    {
      config: recorded({ kind: 'user', action: passwordAction, subject: userIdSubject }),
      schema: {
        ...call('setPassword', 'Reset the password of a user', 'NOT_FOUND', 'CONFLICT'),
        params: ById,
        body: SetPassword,
        response: { 200: Done },
      },
    },
    async (request) => {
      const { password, endOtherAccess } = request.body
      recordChange(request, await users.setPassword(userOf(request), request.params.id, password, endOtherAccess))
      return done({})
    },
  )

  app.delete(
    '/api/users/:id',
    {
      config: recorded({ kind: 'user', action: 'deleted user', subject: userIdSubject }),
      schema: {
        ...call('deleteUser', 'Delete a user', 'NOT_FOUND', 'CONFLICT'),
        params: ById,
        response: { 200: Done },
      },
    },
    async (request) => {
      recordChange(request, await users.remove(userOf(request), request.params.id))
      return done({})
    },
  )
}

function inviteRoutes(app: Router, invites: Invites): void {
  app.get(
    '/api/invite-codes',
    { config, schema: { ...call('listInviteCodes', 'List the invite codes'), response: { 200: InviteCodesResponse } } },
    async () => done({ codes: await invites.list() }),
  )

  // A code is a secret while it is valid, so the log names an invite by its message.
  app.post(
    '/api/invite-codes',
    {
      config: recorded({ kind: 'invite', action: 'created invite code', subject: fieldOf('body', 'message') }),
      schema: {
        ...call('createInviteCode', 'Create an invite code'),
        body: CreateInviteCode,
        response: { 201: InviteCodeResponse },
      },
    },
    async (request, reply) => {
      const { message, role, grants = [] } = request.body
      return reply.code(201).send(done(await invites.create(userOf(request), message, role && { role, grants })))
    },
  )

  app.delete(
    '/api/invite-codes/:code',
    {
      config: recorded({ kind: 'invite', action: 'deleted invite code' }),
      schema: {
        ...call('deleteInviteCode', 'Delete an invite code', 'NOT_FOUND', 'CONFLICT'),
        params: ByCode,
        querystring: DeleteInviteCode,
        response: { 200: Done },
      },
    },
    async (request) => {
      const { params, query } = request
      const isRevocation = query.revoke === 'true'
      request.activitySubject = (await invites.remove(params.code, { isRevocation })).message
      return done({})
    },
  )
}
