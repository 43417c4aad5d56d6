import { z } from 'zod'
import { success } from '../envelope'
import { NO_NUL, NUL_FREE } from '../pageRules'
import {
  CODE_LENGTH,
  CODE_PATTERN,
  PASSWORD_MAX_LENGTH,
  PASSWORD_MIN_LENGTH,
  USERNAME_MAX_LENGTH,
  USERNAME_MIN_LENGTH,
  USERNAME_PATTERN,
} from '../rules'

/** Sign-in input is limited in length but not validated, so that a response reveals nothing about the rules. */
const Typed = z.string().min(1).max(256).regex(NUL_FREE, NO_NUL)
const Opaque = z.string().min(1).max(512).regex(NUL_FREE, NO_NUL)

export const Username = z
  .string()
  .min(USERNAME_MIN_LENGTH, `must have at least ${USERNAME_MIN_LENGTH} characters`)
  .max(USERNAME_MAX_LENGTH, `must have at most ${USERNAME_MAX_LENGTH} characters`)
  .regex(USERNAME_PATTERN, 'may hold only letters, digits and _ . -')
export const Password = z
  .string()
  .min(PASSWORD_MIN_LENGTH, `must have at least ${PASSWORD_MIN_LENGTH} characters`)
  .max(PASSWORD_MAX_LENGTH, `must have at most ${PASSWORD_MAX_LENGTH} characters`)
export const VerificationCode = z.string().regex(CODE_PATTERN, `must be ${CODE_LENGTH} digits`)

/** 1 means administrator. */
const AdminFlag = z.union([z.literal(0), z.literal(1)])

export const Login = z.strictObject({ username: Typed, password: Typed })
export type Login = z.infer<typeof Login>
export const LoginResponse = success(z.object({ sessionToken: z.string() }))
export type LoginResponse = z.infer<typeof LoginResponse>

export const VerifyLogin = z.strictObject({
  username: Typed,
  token: VerificationCode.describe('A one-time code.'),
  sessionToken: Opaque.describe(
    'Returned by the login call, for this call only. Valid for five minutes and five wrong codes.',
  ),
})
export type VerifyLogin = z.infer<typeof VerifyLogin>

/** Wrong one-time codes of a user since the last sign-in. */
export const WrongCodes = z.object({
  count: z.number().int().positive(),
  since: z.number().describe('Time of the first of them. Milliseconds since the epoch.'),
})
export type WrongCodes = z.infer<typeof WrongCodes>

export const VerifyLoginResponse = success(
  z.object({
    token: z.string(),
    isAdmin: AdminFlag,
    /** Our extra. */
    wrongCodes: WrongCodes.optional().describe('Without those of this sign-in; missing if there are none.'),
  }),
)
export type VerifyLoginResponse = z.infer<typeof VerifyLoginResponse>

export const VerifyInvite = z.strictObject({ inviteCode: Typed })
export type VerifyInvite = z.infer<typeof VerifyInvite>
export const VerifyInviteResponse = success(
  z.object({
    token: z.string().describe('The invite token for the two calls that follow. Valid for 15 minutes.'),
  }),
)
export type VerifyInviteResponse = z.infer<typeof VerifyInviteResponse>

export const Register = z.strictObject({ username: Username, password: Password, inviteToken: Opaque })
export type Register = z.infer<typeof Register>
export const RegisterResponse = success(
  z.object({
    qrCode: z.string().describe('A PNG as a data URL.'),
    /** Our extra. */
    secret: z.string().optional().describe('The TOTP secret in base32, for users who cannot scan the code.'),
  }),
)
export type RegisterResponse = z.infer<typeof RegisterResponse>

export const VerifyRegistration = z.strictObject({ username: Username, token: VerificationCode, inviteToken: Opaque })
export type VerifyRegistration = z.infer<typeof VerifyRegistration>
export const VerifyRegistrationResponse = success(z.object({ loginToken: z.string(), isAdmin: AdminFlag }))
export type VerifyRegistrationResponse = z.infer<typeof VerifyRegistrationResponse>

/** A session of the signed-in user, from `GET /api/sessions`. Our extra. */
export const OwnSession = z.object({
  id: z.uuid(),
  device: z.string().describe('The User-Agent header.'),
  address: z.string(),
  created_at: z.string().describe('ISO 8601.'),
  last_used_at: z.string().describe('ISO 8601, to the minute.'),
  current: z.boolean().describe('Whether this session made the call.'),
})
export type OwnSession = z.infer<typeof OwnSession>

export const OwnSessionsResponse = success(z.object({ sessions: z.array(OwnSession) }))
export type OwnSessionsResponse = z.infer<typeof OwnSessionsResponse>

/**
 * Body of `POST /api/auth/change-password`, which ends all other sessions of the user: either the old password and a
 * one-time code, or a proof, which needs no authenticator app. Our extra.
 */
export const ChangePassword = z
  .strictObject({
    password: Typed.optional(),
    newPassword: Password,
    token: VerificationCode.optional().describe('A one-time code.'),
    proof: Opaque.optional().describe(
      'From `POST /api/account/proof`, in place of `password` and `token`. Needed by a user without an authenticator app.',
    ),
  })
  .refine(({ password, proof }) => (password === undefined) !== (proof === undefined), {
    message: 'is required, or a proof in its place, but not both',
    path: ['password'],
  })
  .refine(({ token, proof }) => (token === undefined) !== (proof === undefined), {
    message: 'is required, or a proof in its place, but not both',
    path: ['token'],
  })
export type ChangePassword = z.infer<typeof ChangePassword>

/** Ways to sign in besides the password, from `GET /api/auth/methods`. Our extra. */
export const SignInMethodsResponse = success(
  z.object({
    passkeys: z.boolean().describe('Whether passkeys can work at this address (WebAuthn).'),
    openId: z
      .object({ name: z.string(), available: z.boolean().describe('Whether the provider answers at present.') })
      .optional()
      .describe('The OpenID Connect provider. Missing: none is configured.'),
  }),
)
export type SignInMethodsResponse = z.infer<typeof SignInMethodsResponse>
