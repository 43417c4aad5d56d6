import { z } from 'zod'
import { DeploymentName } from './deployment'
import { success } from './envelope'
import { KEY_NAME_MAX_LENGTH, NO_NUL, NUL_FREE, RIGHTS, ROLES, SCOPES } from './pageRules'

export const Role = z.enum(ROLES)
export type Role = z.infer<typeof Role>

export const Right = z.enum(RIGHTS)
export type Right = z.infer<typeof Right>

export const Scope = z.enum(SCOPES)
export type Scope = z.infer<typeof Scope>

/** Limits of grants and deployments of one user or key, far above what a network has. */
const MAX_GRANTS = 500

/** The rights of a limited user on a deployment. A response always has `view`. */
export const Grant = z.strictObject({ deployment: DeploymentName, rights: z.array(Right).max(RIGHTS.length) })
export type Grant = z.infer<typeof Grant>

/** What a user may do (decisions §16). Only the role `limited` has grants. */
export const UserAccess = z.strictObject({ role: Role, grants: z.array(Grant).max(MAX_GRANTS) })
export type UserAccess = z.infer<typeof UserAccess>

export const UserAccessResponse = success(UserAccess)
export type UserAccessResponse = z.infer<typeof UserAccessResponse>

/** A sign-in of a user. */
export const PreviousSignIn = z.object({ at: z.string().describe('ISO 8601.'), address: z.string() })
export type PreviousSignIn = z.infer<typeof PreviousSignIn>

/** The caller and what they may do, from `GET /api/account`. Our extra. */
export const AccountResponse = success(
  UserAccess.extend({
    id: z.number().int(),
    username: z.string(),
    key: z
      .object({ name: z.string(), scopes: z.array(Scope), deployments: z.array(z.string()).optional() })
      .optional()
      .describe('Of a call with an API key: what limits it further.'),
    previous_sign_in: PreviousSignIn.optional().describe(
      'Of a call with a session: the sign-in before the one that opened it. Missing: there was none.',
    ),
  }),
)
export type AccountResponse = z.infer<typeof AccountResponse>

/** Body of `POST /api/keys`. */
export const CreateApiKey = z.strictObject({
  name: z
    .string()
    .regex(/\S/, 'must not be empty')
    .trim()
    .max(KEY_NAME_MAX_LENGTH, `must have at most ${KEY_NAME_MAX_LENGTH} characters`)
    .regex(NUL_FREE, NO_NUL),
  scopes: z.array(Scope).min(1, 'must have at least one scope').max(SCOPES.length),
  deployments: z
    .array(DeploymentName)
    .min(1, 'must have at least one deployment')
    .max(MAX_GRANTS)
    .optional()
    .describe('The key works for these deployments only. Missing: for all.'),
  expires_at: z.iso
    .datetime({ offset: true })
    .optional()
    .describe('ISO 8601 with an offset. Missing: it does not expire.'),
})
export type CreateApiKey = z.infer<typeof CreateApiKey>

/** An API key without its secret. */
export const ApiKey = z.object({
  id: z.uuid(),
  name: z.string(),
  scopes: z.array(Scope),
  deployments: z.array(z.string()).optional().describe('Missing: all deployments. Empty: each of them was deleted.'),
  prefix: z.string().describe('The first characters, which identify it in a list: `qd_a1B2`.'),
  created_at: z.string().describe('ISO 8601.'),
  expires_at: z.string().optional().describe('ISO 8601. Missing: it does not expire.'),
  last_used_at: z.string().optional().describe('ISO 8601, to the minute. Missing: it was never used.'),
})
export type ApiKey = z.infer<typeof ApiKey>

export const ApiKeysResponse = success(z.object({ keys: z.array(ApiKey) }))
export type ApiKeysResponse = z.infer<typeof ApiKeysResponse>

/** The only response that has the key itself. */
export const CreatedApiKeyResponse = success(z.object({ key: z.string(), info: ApiKey }))
export type CreatedApiKeyResponse = z.infer<typeof CreatedApiKeyResponse>
