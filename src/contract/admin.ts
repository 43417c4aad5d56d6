import { z } from 'zod'
import { Grant, Role, UserAccess } from './access'
import { Password } from './auth'
import { success } from './envelope'
import { hasNoNul, NO_NUL } from './pageRules'

export const User = z.object({
  id: z.number().int(),
  username: z.string(),
  is_admin: z.boolean(),
  // Our extras.
  role: Role.optional(),
  /** ISO 8601, to the minute. Missing: never, or not within the life of a session. */
  last_seen: z.string().optional(),
})
export type User = z.infer<typeof User>

export const UsersAnswer = success(z.object({ users: z.array(User) }))
export type UsersAnswer = z.infer<typeof UsersAnswer>

export const SetAdmin = z.strictObject({ is_admin: z.boolean() })
export type SetAdmin = z.infer<typeof SetAdmin>

export const SetPassword = z.strictObject({ password: Password })
export type SetPassword = z.infer<typeof SetPassword>

export const InviteCode = z.object({
  code: z.string(),
  message: z.string(),
  /** ISO 8601. */
  created_at: z.string(),
  /** Username of the user who registered with it. */
  used_by: z.string().nullable(),
  revoked: z.boolean(),
  /** True after seven days without being used. */
  is_expired: z.boolean(),
  /** ISO 8601. Our extra. */
  expires_at: z.string().optional(),
  /** What its user gets (decisions §16). Missing: the role `operator`. */
  role: Role.optional(),
  grants: z.array(Grant).optional(),
})
export type InviteCode = z.infer<typeof InviteCode>

export const InviteCodesAnswer = success(z.object({ codes: z.array(InviteCode) }))
export type InviteCodesAnswer = z.infer<typeof InviteCodesAnswer>

export const CreateInviteCode = z.strictObject({
  message: z.string().trim().min(1, 'Message cannot be empty').max(500).refine(hasNoNul, NO_NUL),
  /** As UserAccess. Default: the role `operator`. */
  role: Role.optional(),
  grants: UserAccess.shape.grants.optional(),
})
export type CreateInviteCode = z.infer<typeof CreateInviteCode>

export const InviteCodeAnswer = success(InviteCode)
export type InviteCodeAnswer = z.infer<typeof InviteCodeAnswer>

export const DashboardHostAnswer = success(z.object({ host: z.string() }))
export type DashboardHostAnswer = z.infer<typeof DashboardHostAnswer>

/** Null if there is no token. */
export const DashboardTokenAnswer = success(z.object({ token: z.string().nullable() }))
export type DashboardTokenAnswer = z.infer<typeof DashboardTokenAnswer>

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
  /** Milliseconds since the epoch. */
  at: z.number(),
  /** The username at that time. Null if no user was signed in. */
  username: z.string().nullable(),
  kind: ActivityKind,
  /** The action in words: `signed in`, `failed to sign in as`, `deleted deployment`. */
  action: z.string(),
  /** The object of the action: a name, a path, a command. Null if it has none. */
  subject: z.string().nullable(),
  address: z.string(),
  /** False if the action was refused or failed. */
  succeeded: z.boolean(),
  /** The name of the API key that was used. Missing: a session. */
  api_key: z.string().optional(),
})
export type ActivityEntry = z.infer<typeof ActivityEntry>

/** Query of `GET /api/activity`, newest first. Our extra. */
export const ActivityQuery = z.strictObject({
  /** Cursor: only entries older than the one with this id. */
  before: z.coerce.number().int().positive().optional(),
  kind: ActivityKind.optional(),
  /** Only actions of this user. */
  username: z.string().min(1).max(256).refine(hasNoNul, NO_NUL).optional(),
  /** Case-insensitive; in username, action, subject and address. */
  search: z.string().max(200).refine(hasNoNul, NO_NUL).optional(),
})
export type ActivityQuery = z.infer<typeof ActivityQuery>

/** Entries per page of the activity log. */
export const ACTIVITY_PAGE = 100

export const ActivityAnswer = success(
  z.object({ entries: z.array(ActivityEntry), /** Whether there are older entries. */ hasMore: z.boolean() }),
)
export type ActivityAnswer = z.infer<typeof ActivityAnswer>
