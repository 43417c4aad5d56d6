import type { CreateApiKey, Scope } from '../../../../contract/access'
import { KEY_NAME_MAX_LENGTH, SCOPES } from '../../../../contract/pageRules'
import type { ApiFailure } from '../../../failure'
import type { Expiry, KeyCreation } from './keysSlice'

const DAY_MS = 86_400_000

export const EXPIRIES: { value: Expiry; text: string }[] = [
  { value: '30', text: 'In 30 days' },
  { value: '90', text: 'In 90 days' },
  { value: '365', text: 'In a year' },
  { value: 'date', text: 'On a date' },
  { value: 'never', text: 'Never' },
]

/** The fields of the form, in their order, with the platform's names for them. */
const FIELDS = ['name', 'scopes', 'deployments', 'expires_at'] as const
export type Problems = Partial<Record<(typeof FIELDS)[number], string>>

/** The scopes that a user may choose. The platform refuses the others. */
export const scopesFor = ({ isAdmin, isLimited }: { isAdmin: boolean; isLimited: boolean }): Scope[] =>
  SCOPES.filter((scope) => (scope !== 'admin' || isAdmin) && (scope !== 'databases' || !isLimited))

/**
 * The expiry of a key in milliseconds since the epoch; for a date, the end of that day in local time. Undefined: never.
 * NaN without a date.
 */
function expiryTimeOf({ expiry, date }: KeyCreation, now: number): number | undefined {
  if (expiry === 'never') return undefined
  return expiry === 'date' ? new Date(`${date}T23:59:59`).getTime() : now + Number(expiry) * DAY_MS
}

/** The text below each field whose value is not valid. */
export function problemsOf(creation: KeyCreation, now: number): Problems {
  const { name, scopes, isRestricted, deployments } = creation
  const expiresAt = expiryTimeOf(creation, now)
  return {
    ...(name.trim() === '' && { name: 'Give the key a name' }),
    ...(name.trim().length > KEY_NAME_MAX_LENGTH && { name: `At most ${KEY_NAME_MAX_LENGTH} characters` }),
    ...(scopes.length === 0 && { scopes: 'Choose at least one' }),
    ...(isRestricted && deployments.length === 0 && { deployments: 'Choose at least one' }),
    ...(expiresAt !== undefined && !(expiresAt > now) && { expires_at: 'Choose today or a later date' }),
  }
}

/** The body of the call, for a form without problems. */
export function bodyOf(creation: KeyCreation, now: number): CreateApiKey {
  const { name, scopes, isRestricted, deployments } = creation
  const expiresAt = expiryTimeOf(creation, now)
  return {
    name: name.trim(),
    scopes,
    ...(isRestricted && { deployments }),
    ...(expiresAt !== undefined && { expires_at: new Date(expiresAt).toISOString() }),
  }
}

/** The platform's message about a field of the form. Empty for other failures. */
export function refusalOf(error: unknown): Problems {
  const { field = '', message = '' } = (error ?? {}) as Partial<ApiFailure>
  const formField = FIELDS.find((name) => field === name || field.startsWith(`${name}.`))
  if (!formField || !message) return {}
  const text = message.startsWith(`${field}: `) ? message.slice(field.length + 2) : message
  return { [formField]: text.charAt(0).toUpperCase() + text.slice(1) }
}
