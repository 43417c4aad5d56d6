import { z } from 'zod'
import { VerificationCode, VerifyLogin } from './auth'
import { success } from '../envelope'
import { METHOD_NAME_MAX_LENGTH, NO_NUL, NUL_FREE } from '../pageRules'

/** Several authenticators, passkeys and recovery codes. Our extras. */

const Base64Url = z
  .string()
  .regex(/^[A-Za-z0-9_-]+$/, 'must be base64url')
  .max(100_000)
/** An authenticator takes up to some kilobytes, with certificates. Their parsers need seconds for a megabyte. */
const AuthenticatorOutput = Base64Url.max(16_384)
/** Credential IDs have at most 1,023 bytes (WebAuthn level 3, §4). */
const CredentialId = Base64Url.max(1364, 'must have at most 1,023 bytes')
const MethodName = z
  .string()
  .regex(/\S/, 'must not be empty')
  .trim()
  .max(METHOD_NAME_MAX_LENGTH, `must have at most ${METHOD_NAME_MAX_LENGTH} characters`)
  .regex(NUL_FREE, NO_NUL)

/** Options of WebAuthn as JSON, for `navigator.credentials` of a browser. */
export const PasskeyOptions = z.looseObject({ challenge: z.string() })
export type PasskeyOptions = z.infer<typeof PasskeyOptions>
export const PasskeyOptionsResponse = success(z.object({ options: PasskeyOptions }))
export type PasskeyOptionsResponse = z.infer<typeof PasskeyOptionsResponse>

/** A browser's response to a challenge with a passkey (AuthenticationResponseJSON). */
export const PasskeyAssertion = z.looseObject({
  id: CredentialId,
  response: z.looseObject({
    clientDataJSON: Base64Url,
    authenticatorData: AuthenticatorOutput,
    signature: AuthenticatorOutput,
    userHandle: z.string().max(200).optional(),
  }),
})
export type PasskeyAssertion = z.infer<typeof PasskeyAssertion>

/** A browser's response when it has created a passkey (RegistrationResponseJSON). */
export const PasskeyCreation = z.looseObject({
  id: CredentialId,
  response: z.looseObject({
    clientDataJSON: Base64Url,
    attestationObject: AuthenticatorOutput,
    transports: z.array(z.string().max(40).regex(NUL_FREE, NO_NUL)).max(20).optional(),
  }),
})
export type PasskeyCreation = z.infer<typeof PasskeyCreation>

/** The step of signing in that follows the password. */
export const LoginStep = VerifyLogin.omit({ token: true })
export type LoginStep = z.infer<typeof LoginStep>
/** Body of `POST /api/auth/verify-passkey`. */
export const VerifyPasskey = LoginStep.extend({ response: PasskeyAssertion })
/** Body of `POST /api/auth/passkey-login`. */
export const PasskeyLogin = z.strictObject({ response: PasskeyAssertion })

export const RecoveryCode = z.string().min(1).max(64).regex(NUL_FREE, NO_NUL)
/** Body of `POST /api/auth/verify-recovery-code`. */
export const VerifyRecoveryCode = LoginStep.extend({ recoveryCode: RecoveryCode })
export type VerifyRecoveryCode = z.infer<typeof VerifyRecoveryCode>

/** An authenticator app or a passkey. */
export const SignInMethod = z.object({
  id: z.uuid(),
  name: z.string(),
  created_at: z.string().describe('ISO 8601.'),
  last_used_at: z.string().optional().describe('ISO 8601. Missing: it was never used.'),
})
export type SignInMethod = z.infer<typeof SignInMethod>

const Methods = z.object({
  authenticators: z.array(SignInMethod),
  passkeys: z.array(SignInMethod),
  recoveryCodes: z.number().int().describe('How many recovery codes are left.'),
})
/** The caller's sign-in methods, from `GET /api/account/methods`. */
export const OwnMethodsResponse = success(Methods)
export type OwnMethodsResponse = z.infer<typeof OwnMethodsResponse>

/** How a user signs in, from `GET /api/users/{id}/methods`. */
export const UserMethodsResponse = success(
  Methods.extend({
    hasPassword: z.boolean().describe('False: single sign-on made the account, and is its only way to sign in.'),
    singleSignOn: z.boolean().describe('Whether the account is connected to the OpenID Connect provider.'),
  }),
)
export type UserMethodsResponse = z.infer<typeof UserMethodsResponse>

/** Body of `POST /api/account/proof`: the password, and one other proof. */
export const Prove = z
  .strictObject({
    password: z.string().min(1).max(256).regex(NUL_FREE, NO_NUL),
    code: z.string().min(1).max(64).regex(NUL_FREE, NO_NUL).optional().describe('A one-time code or a recovery code.'),
    passkey: PasskeyAssertion.optional(),
  })
  .refine(({ code, passkey }) => (code === undefined) !== (passkey === undefined), 'needs either code or passkey')
export type Prove = z.infer<typeof Prove>
export const ProofResponse = success(
  z.object({ proof: z.string().describe('For one change of the own password or methods within five minutes.') }),
)
export type ProofResponse = z.infer<typeof ProofResponse>
/** Body of the calls that change the caller's sign-in methods. */
export const Proven = z.strictObject({ proof: z.string().min(1).max(512).regex(NUL_FREE, NO_NUL) })
export type Proven = z.infer<typeof Proven>

export const NewAuthenticatorResponse = success(
  z.object({
    setup: z
      .string()
      .describe('For the call that confirms the authenticator. Valid for five minutes and five attempts.'),
    qrCode: z.string().describe('A PNG as a data URL.'),
    secret: z.string().describe('The TOTP secret in base32.'),
  }),
)
export type NewAuthenticatorResponse = z.infer<typeof NewAuthenticatorResponse>
/** Body of `POST /api/account/authenticators/confirm`. */
export const ConfirmAuthenticator = z.strictObject({
  setup: z.string().min(1).max(512).regex(NUL_FREE, NO_NUL),
  name: MethodName,
  code: VerificationCode,
})
export type ConfirmAuthenticator = z.infer<typeof ConfirmAuthenticator>

/** Body of `POST /api/account/passkeys`. */
export const CreatePasskey = z.strictObject({ name: MethodName, response: PasskeyCreation })
/** Body of `PATCH /api/account/{authenticators,passkeys}/{id}`. */
export const RenameMethod = z.strictObject({ name: MethodName })

export const RecoveryCodesResponse = success(z.object({ codes: z.array(z.string()).describe('Ten, shown only now.') }))
export type RecoveryCodesResponse = z.infer<typeof RecoveryCodesResponse>
