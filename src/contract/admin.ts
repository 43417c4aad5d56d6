import { z } from 'zod'
import { Password } from './auth'
import { success } from './envelope'

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
  is_expired: z.boolean(),
})
export type InviteCode = z.infer<typeof InviteCode>

export const InviteCodesAnswer = success(z.object({ codes: z.array(InviteCode) }))
export type InviteCodesAnswer = z.infer<typeof InviteCodesAnswer>

export const CreateInviteCode = z.strictObject({ message: z.string().trim().min(1, 'Message cannot be empty').max(500) })
export type CreateInviteCode = z.infer<typeof CreateInviteCode>

export const DashboardHostAnswer = success(z.object({ host: z.string() }))
export type DashboardHostAnswer = z.infer<typeof DashboardHostAnswer>

/** Null while there is none. */
export const DashboardTokenAnswer = success(z.object({ token: z.string().nullable() }))
export type DashboardTokenAnswer = z.infer<typeof DashboardTokenAnswer>
