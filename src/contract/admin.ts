import { z } from 'zod'
import { Grant, Role, UserAccess } from './access'
import { Password } from './signIn/auth'
import { success } from './envelope'
import { NO_NUL, NUL_FREE } from './pageRules'

export const User = z.object({
  id: z.number().int(),
  username: z.string(),
  is_admin: z.boolean(),
  // Our extras.
  role: Role.optional(),
  last_seen: z
    .string()
    .optional()
    .describe('ISO 8601, to the minute. Missing: never, or not within the life of a session.'),
})
export type User = z.infer<typeof User>

export const UsersResponse = success(z.object({ users: z.array(User) }))
export type UsersResponse = z.infer<typeof UsersResponse>

export const SetAdmin = z.strictObject({ is_admin: z.boolean() })
export type SetAdmin = z.infer<typeof SetAdmin>

export const SetPassword = z.strictObject({
  password: Password,
  endOtherAccess: z
    .boolean()
    .optional()
    .describe(
      'Whether all that signs in without the password ends too: API keys, passkeys, unused invite codes, and the connection to single sign-on.',
    ),
})
export type SetPassword = z.infer<typeof SetPassword>

export const InviteCode = z.object({
  code: z.string(),
  message: z.string(),
  created_at: z.string().describe('ISO 8601.'),
  used_by: z.string().nullable().describe('Username of the user who registered with it.'),
  revoked: z.boolean(),
  is_expired: z.boolean().describe('True after seven days without being used.'),
  /** Our extra. */
  expires_at: z.string().optional().describe('ISO 8601.'),
  role: Role.optional().describe('What its user gets. Missing: the role `operator`.'),
  grants: z.array(Grant).optional(),
})
export type InviteCode = z.infer<typeof InviteCode>

export const InviteCodesResponse = success(z.object({ codes: z.array(InviteCode) }))
export type InviteCodesResponse = z.infer<typeof InviteCodesResponse>

export const CreateInviteCode = z
  .strictObject({
    message: z.string().regex(/\S/, 'Message cannot be empty').trim().max(500).regex(NUL_FREE, NO_NUL),
    role: Role.optional().describe('As UserAccess. Default: the role `operator`.'),
    grants: UserAccess.shape.grants.optional(),
  })
  // Without a role the user would be an operator, who has all rights on all deployments.
  .refine(({ role, grants = [] }) => role !== undefined || grants.length === 0, {
    path: ['role'],
    message: 'must be given where there are grants',
  })
export type CreateInviteCode = z.infer<typeof CreateInviteCode>

/** Our extra. */
export const DeleteInviteCode = z.strictObject({
  revoke: z
    .enum(['true', 'false'])
    .optional()
    .describe('`true`: only revokes an unused code, and deletes none. Default: also deletes a used or revoked one.'),
})

export const InviteCodeResponse = success(InviteCode)
export type InviteCodeResponse = z.infer<typeof InviteCodeResponse>

export const DashboardHostResponse = success(z.object({ host: z.string() }))
export type DashboardHostResponse = z.infer<typeof DashboardHostResponse>

/** Null if there is no token. */
export const DashboardTokenResponse = success(z.object({ token: z.string().nullable() }))
export type DashboardTokenResponse = z.infer<typeof DashboardTokenResponse>

/** The categories of the activity log, by which the console filters. */
export const ActivityKind = z.enum([
  'session',
  'deployment',
  'power',
  'command',
  'file',
  'database',
  'user',
  'invite',
  'token',
  'key',
])
export type ActivityKind = z.infer<typeof ActivityKind>

/** An action of a user. Never holds a secret. */
export const ActivityEntry = z.object({
  id: z.number().int(),
  at: z.number().describe('Milliseconds since the epoch.'),
  username: z.string().nullable().describe('The username at that time. Null if no user was signed in.'),
  kind: ActivityKind,
  action: z.string().describe('The action in words: `signed in`, `failed to sign in as`, `deleted deployment`.'),
  subject: z.string().nullable().describe('The object of the action: a name, a path, a command. Null if it has none.'),
  address: z.string(),
  succeeded: z.boolean().describe('False if the action was refused or failed.'),
  failure: z.string().optional().describe('Why it failed: the error code of the call. Missing: unknown, or a success.'),
  api_key: z.string().optional().describe('The name of the API key that was used. Missing: a session.'),
})
export type ActivityEntry = z.infer<typeof ActivityEntry>

/** Query of `GET /api/activity`, newest first. Our extra. */
export const ActivityQuery = z.strictObject({
  before: z.coerce
    .number()
    .int()
    .positive()
    .optional()
    .describe('Cursor: only entries older than the one with this id.'),
  kind: ActivityKind.optional(),
  username: z.string().min(1).max(256).regex(NUL_FREE, NO_NUL).optional().describe('Only actions of this user.'),
  hours: z.coerce
    .number()
    .int()
    .positive()
    .max(90 * 24)
    .optional()
    .describe('Only the actions of the last hours, this many.'),
  search: z
    .string()
    .max(200)
    .regex(NUL_FREE, NO_NUL)
    .optional()
    .describe('Case-insensitive; in username, action, subject, address and name of the API key.'),
})
export type ActivityQuery = z.infer<typeof ActivityQuery>

/** Entries per page of the activity log. */
export const ACTIVITY_PAGE = 100

export const ActivityResponse = success(
  z.object({ entries: z.array(ActivityEntry), /** Whether there are older entries. */ hasMore: z.boolean() }),
)
export type ActivityResponse = z.infer<typeof ActivityResponse>
