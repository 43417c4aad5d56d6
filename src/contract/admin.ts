import { z } from 'zod'
import { Password } from './auth'
import { success } from './envelope'
import { hasNoNul, NO_NUL } from './rules'

export const User = z.object({ id: z.number().int(), username: z.string(), is_admin: z.boolean() })
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
  /** The username of who registered with it. */
  used_by: z.string().nullable(),
  revoked: z.boolean(),
  /** Seven days old without being used. */
  is_expired: z.boolean(),
  /** ISO 8601: until when it can be used (our extra). */
  expires_at: z.string().optional(),
})
export type InviteCode = z.infer<typeof InviteCode>

export const InviteCodesAnswer = success(z.object({ codes: z.array(InviteCode) }))
export type InviteCodesAnswer = z.infer<typeof InviteCodesAnswer>

export const CreateInviteCode = z.strictObject({
  message: z.string().trim().min(1, 'Message cannot be empty').max(500).refine(hasNoNul, NO_NUL),
})
export type CreateInviteCode = z.infer<typeof CreateInviteCode>

/** What `POST /api/invite-codes` made. */
export const InviteCodeAnswer = success(InviteCode)
export type InviteCodeAnswer = z.infer<typeof InviteCodeAnswer>

export const DashboardHostAnswer = success(z.object({ host: z.string() }))
export type DashboardHostAnswer = z.infer<typeof DashboardHostAnswer>

/** Null while there is none. */
export const DashboardTokenAnswer = success(z.object({ token: z.string().nullable() }))
export type DashboardTokenAnswer = z.infer<typeof DashboardTokenAnswer>

/** What the activity log tells apart; the console filters by it. */
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
])
export type ActivityKind = z.infer<typeof ActivityKind>

/** One thing that somebody did. Never holds a secret. */
export const ActivityEntry = z.object({
  id: z.number().int(),
  /** Milliseconds since the epoch. */
  at: z.number(),
  /** As it was then; users come and go. Null where nobody was signed in. */
  username: z.string().nullable(),
  kind: ActivityKind,
  /** In words: `signed in`, `failed to sign in as`, `deleted deployment`. */
  action: z.string(),
  /** What it was done to: a name, a path, a command. Null where the action says it all. */
  subject: z.string().nullable(),
  address: z.string(),
  /** Whether it was done, or refused or failed. */
  succeeded: z.boolean(),
})
export type ActivityEntry = z.infer<typeof ActivityEntry>

/** Of `GET /api/activity`, newest first (our extra). */
export const ActivityQuery = z.strictObject({
  /** Only what is older than the entry with this id: the next page. */
  before: z.coerce.number().int().positive().optional(),
  kind: ActivityKind.optional(),
  /** In username, action, subject and address, without regard to case. */
  search: z.string().max(200).refine(hasNoNul, NO_NUL).optional(),
})
export type ActivityQuery = z.infer<typeof ActivityQuery>

/** How many entries one page of the activity log has. */
export const ACTIVITY_PAGE = 100

export const ActivityAnswer = success(
  z.object({ entries: z.array(ActivityEntry), /** Whether there are older ones. */ hasMore: z.boolean() }),
)
export type ActivityAnswer = z.infer<typeof ActivityAnswer>
