import { z } from 'zod'
import type { Role } from '../contract/access'
import { ROLES } from '../contract/pageRules'
import { isIssuer } from './settingFormats'

/** Maps values of the claim to roles. */
export interface RoleMapping {
  /** The role by value of the claim. */
  roles: Map<string, Role>
  /** The role of users without a matching value. If missing, they are refused. */
  otherwise?: Role | undefined
}

/** How users sign in by OpenID Connect. */
export interface OpenIdSettings {
  issuer: string
  clientId: string
  clientSecret: string
  roleClaim: string
  roles: RoleMapping
  /** The provider as the console names it: `Sign in with <name>`. */
  name: string
}

const ROLES_ERROR = 'must be a comma-separated list such as admins=administrator,staff=operator,*=limited'
const text = (error: string) => z.string().trim().min(1, error).max(1000, error).optional()

/** The settings of signing in by OpenID Connect, for the list of all settings. */
export const openIdSettings = {
  QUARTERDECK_OIDC_ISSUER: {
    schema: z
      .string()
      .refine(
        isIssuer,
        'must be an address such as https://login.example.com/realms/games, without a query (http only on this machine)',
      )
      .optional(),
    defaultText: 'none',
    description:
      'OpenID Connect: the issuer, under which the provider’s `/.well-known/openid-configuration` is. With it, `_CLIENT_ID`, `_CLIENT_SECRET` and `_ROLES` are needed.',
  },
  QUARTERDECK_OIDC_CLIENT_ID: {
    schema: text('must be the id of the client at the provider'),
    defaultText: 'none',
    description:
      'OpenID Connect: the id of the client at the provider. Its redirect URI is the console’s address with `/api/auth/oidc/callback`.',
  },
  QUARTERDECK_OIDC_CLIENT_SECRET: {
    schema: text('must be the secret of the client at the provider'),
    defaultText: 'none',
    description: 'OpenID Connect: the secret of the client.',
  },
  QUARTERDECK_OIDC_ROLE_CLAIM: {
    schema: z.string().regex(/^\S{1,200}$/, 'must be the name of a claim such as groups or realm_access.roles'),
    default: 'groups',
    description:
      'OpenID Connect: the claim that the role follows from, a text or a list of texts. Dots lead into objects: `realm_access.roles`.',
  },
  QUARTERDECK_OIDC_ROLES: {
    schema: z
      .string()
      .transform((list, context) => {
        const mapping = readRoles(list)
        if (mapping) return mapping
        context.addIssue({ code: 'custom', message: ROLES_ERROR })
        return z.NEVER
      })
      .optional(),
    defaultText: 'none',
    description:
      'OpenID Connect: roles by values of the claim, such as `admins=administrator,staff=operator,*=limited`. Of several that match, the one with most rights counts; `*` is for users whom no other value matches. Users without a role may not sign in.',
  },
  QUARTERDECK_OIDC_NAME: {
    schema: z
      .string()
      .trim()
      .regex(/^[^\p{Cc}]{1,40}$/u, 'must be a name of at most 40 characters'),
    default: 'single sign-on',
    description: 'OpenID Connect: the provider’s name, for the button `Sign in with …`.',
  },
}

type Values = { [Name in keyof typeof openIdSettings]: z.output<(typeof openIdSettings)[Name]['schema']> }

const NEEDED = [
  'QUARTERDECK_OIDC_ISSUER',
  'QUARTERDECK_OIDC_CLIENT_ID',
  'QUARTERDECK_OIDC_CLIENT_SECRET',
  'QUARTERDECK_OIDC_ROLES',
] as const

/** @returns one line for each setting of OpenID Connect that is missing although another one is set */
export function missingOpenIdSettings(environment: Record<string, string | undefined>): string[] {
  const [present] = Object.keys(openIdSettings).filter((name) => environment[name])
  if (present === undefined) return []
  return NEEDED.filter((name) => !environment[name]).map((name) => `${name}: is missing, but ${present} is set`)
}

/** @returns undefined if signing in by OpenID Connect is not configured */
export function openIdSettingsOf(values: Values): OpenIdSettings | undefined {
  const {
    QUARTERDECK_OIDC_ISSUER: issuer,
    QUARTERDECK_OIDC_CLIENT_ID: clientId,
    QUARTERDECK_OIDC_CLIENT_SECRET: clientSecret,
    QUARTERDECK_OIDC_ROLES: roles,
  } = values
  if (issuer === undefined || clientId === undefined || clientSecret === undefined || roles === undefined)
    return undefined
  const { QUARTERDECK_OIDC_ROLE_CLAIM: roleClaim, QUARTERDECK_OIDC_NAME: name } = values
  return { issuer, clientId, clientSecret, roleClaim, roles, name }
}

/** @returns undefined if an entry has no known role, or if a value is named twice */
function readRoles(list: string): RoleMapping | undefined {
  const roles = new Map<string, Role>()
  for (const entry of list.split(',')) {
    const at = entry.lastIndexOf('=')
    const value = entry.slice(0, Math.max(at, 0)).trim()
    const role = ROLES.find((one) => one === entry.slice(at + 1).trim())
    if (value === '' || role === undefined || roles.has(value)) return undefined
    roles.set(value, role)
  }
  const otherwise = roles.get('*')
  roles.delete('*')
  return { roles, otherwise }
}
