import type { Right, Role, Scope } from '../contract/access'
import { AppError } from './errors'

/** The API key of a call. */
export interface CallerKey {
  id: string
  name: string
  scopes: ReadonlySet<Scope>
  /** Undefined: all deployments. */
  deployments: ReadonlySet<string> | undefined
}

/** Who makes a call: a user by a session, or by one of their API keys. */
export interface Caller {
  userId: number
  username: string
  role: Role
  isAdmin: boolean
  /** The rights of a limited user by deployment. Empty for others, who have all of them. */
  grants: ReadonlyMap<string, ReadonlySet<Right>>
  sessionId?: string
  key?: CallerKey
}

/** The session or API key of a caller, without its secret: `session <id>` or `key <id>`. */
export type Credential = `session ${string}` | `key ${string}`

/** The credential of a caller: the API key if the call was made with one, otherwise the session. */
export function credentialOf({ sessionId, key }: { sessionId?: string; key?: { id: string } }): Credential {
  return key ? `key ${key.id}` : `session ${sessionId}`
}

/** The scope that an API key needs for what a right allows. */
const SCOPE_OF: Record<Right, Scope> = {
  view: 'read',
  console: 'console',
  power: 'power',
  files: 'files',
  configuration: 'configuration',
  schedules: 'schedules',
  backups: 'backups',
}
/** The scope that an API key needs for what a right allows. */
export const scopeOf = (right: Right): Scope => SCOPE_OF[right]

const RANK: Record<Role, number> = { limited: 0, operator: 1, administrator: 2 }

/**
 * Whether there may be deployments that the caller must not know of. If not, every deployment and every path is theirs.
 */
export function isRestricted({ role, key }: Caller): boolean {
  return role === 'limited' || key?.deployments !== undefined
}

/** Whether the caller may know that this deployment exists. */
export function knows({ role, grants, key }: Caller, deployment: string): boolean {
  return (role !== 'limited' || grants.has(deployment)) && (key?.deployments?.has(deployment) ?? true)
}

/** A filter of the deployments that the caller may know of. Every grant includes the right to see. */
export function knownTo(caller: Caller): (deployment: string) => boolean {
  return (deployment) => knows(caller, deployment)
}

/**
 * Whether the caller has this right on a deployment. @param scope the scope that an API key needs, if it is not the
 * right's own
 */
export function may(caller: Caller, right: Right, deployment: string, scope: Scope = SCOPE_OF[right]): boolean {
  return refusalOf(caller, right, deployment, scope) === undefined
}

/**
 * Requires a right on a deployment.
 * @throws AppError NOT_FOUND for a deployment that the caller must not know of, as for one that does not exist;
 * NOT_ALLOWED for one they know of (decisions §16)
 */
export function requireRight(caller: Caller, right: Right, deployment: string, scope: Scope = SCOPE_OF[right]): void {
  const refusal = refusalOf(caller, right, deployment, scope)
  if (refusal) throw refusal
}

function refusalOf(caller: Caller, right: Right, deployment: string, scope: Scope): AppError | undefined {
  if (!knows(caller, deployment)) return new AppError('NOT_FOUND', `There is no deployment named "${deployment}".`)
  if (caller.role === 'limited' && !caller.grants.get(deployment)?.has(right))
    return new AppError('NOT_ALLOWED', `You do not have the right "${right}" on the deployment "${deployment}".`)
  return scopeRefusal(caller, scope)
}

/** Requires that an API key has a scope. A session has all. @throws AppError NOT_ALLOWED */
export function requireScope(caller: Caller, scope: Scope): void {
  const refusal = scopeRefusal(caller, scope)
  if (refusal) throw refusal
}

function scopeRefusal({ key }: Caller, scope: Scope): AppError | undefined {
  if (!key || key.scopes.has(scope)) return undefined
  return new AppError('NOT_ALLOWED', `The API key "${key.name}" does not have the scope "${scope}".`)
}

/**
 * Requires a role.
 * @param ofDeployment whether the call concerns one deployment, which was checked already
 * @throws AppError NOT_ALLOWED; also for an API key that is limited to certain deployments, if the call concerns others
 */
export function requireRole({ role, key }: Caller, least: 'operator' | 'administrator', ofDeployment: boolean): void {
  if (RANK[role] < RANK[least])
    throw new AppError(
      'NOT_ALLOWED',
      least === 'administrator' ? 'Only administrators may do this.' : 'Only operators and administrators may do this.',
    )
  if (key?.deployments && !ofDeployment)
    throw new AppError('NOT_ALLOWED', `The API key "${key.name}" is limited to certain deployments.`)
}

/** Serializes what decides the rights of a caller: two callers with the same text may do the same. */
export function rightsText({ role, grants, key }: Caller): string {
  const granted = [...grants].map(([deployment, rights]) => [deployment, [...rights].sort()] as const)
  return JSON.stringify([
    role,
    granted.sort(([one], [other]) => (one < other ? -1 : 1)),
    key && [[...key.scopes].sort(), key.deployments && [...key.deployments].sort()],
  ])
}
