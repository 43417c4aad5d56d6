import { createHash } from 'node:crypto'
import type { Role } from '../../../contract/access'
import { ROLES } from '../../../contract/pageRules'
import { USERNAME_MAX_LENGTH, USERNAME_MIN_LENGTH } from '../../../contract/rules'
import type { OpenIdSettings } from '../../openIdSettings'

/** A provider's claims about a user. All but `iss` and `sub` are optional and unchecked. */
export type Claims = Record<string, unknown> & { iss: string; sub: string }

/**
 * Finds a claim by its name, or by a path through nested objects: `realm_access.roles`.
 * @returns undefined if there is none
 */
export function claimAt(claims: Record<string, unknown>, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name]
  return name.split('.').reduce<unknown>((value, part) => {
    const isObject = typeof value === 'object' && value !== null && Object.hasOwn(value, part)
    return isObject ? (value as Record<string, unknown>)[part] : undefined
  }, claims)
}

/** @returns the role with the most rights among those that the claim names; undefined if it names none */
export function mappedRole(
  claims: Record<string, unknown>,
  { roleClaim, roles: { roles, otherwise } }: Pick<OpenIdSettings, 'roleClaim' | 'roles'>,
): Role | undefined {
  const values = [claimAt(claims, roleClaim)].flat()
  const matching = values.map((value) => (typeof value === 'string' ? roles.get(value) : undefined))
  return ROLES.findLast((role) => matching.includes(role)) ?? otherwise
}

/**
 * Adapts the name that a provider gives to the rules of usernames: letters without accents, `-` for other characters.
 * @returns a name derived from the identity if the provider gives no usable one
 */
export function usernameFrom(claims: Claims): string {
  const [given = ''] = [claims.preferred_username, claims.email].filter(
    (name): name is string => typeof name === 'string' && /[A-Za-z0-9]/.test(plain(name)),
  )
  const name = plain(given).slice(0, USERNAME_MAX_LENGTH)
  if (name === '')
    return `user-${createHash('sha256').update(`${claims.iss} ${claims.sub}`).digest('hex').slice(0, 10)}`
  return name.length < USERNAME_MIN_LENGTH ? `${name}-user` : name
}

/** The local part of an address is the name. */
function plain(name: string): string {
  const [local = ''] = name.slice(0, 1000).split('@')
  return local
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^A-Za-z0-9_.-]+/g, '-')
}
