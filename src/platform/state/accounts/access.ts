import { sql } from 'kysely'
import type { Grant, Right, Role, UserAccess } from '../../../contract/access'
import type { Caller } from '../../caller'
import type { Db } from '../db'

/** The columns for `toCaller`, for a query with the table `users`. The grants are an object of rights by deployment. */
export const callerColumns = [
  'users.id as userId',
  'users.username',
  'users.is_admin',
  'users.is_limited',
  sql<Record<string, Right[]> | null>`
    case when users.is_limited then
      (select json_object_agg(deployment, rights) from grants where grants.user_id = users.id)
    end`.as('grants'),
] as const

/** Converts a row to a caller, without the session or key of the call. */
export function toCaller(row: {
  userId: number
  username: string
  is_admin: boolean
  is_limited: boolean
  grants: Record<string, Right[]> | null
}): Caller {
  const { userId, username, is_admin: isAdmin, grants } = row
  return {
    userId,
    username,
    role: roleOf(row),
    isAdmin,
    grants: new Map(Object.entries(grants ?? {}).map(([deployment, rights]) => [deployment, new Set(rights)])),
  }
}

/** The role that the two flags of a user mean (decisions §16). */
export function roleOf({ is_admin, is_limited }: { is_admin: boolean; is_limited: boolean }): Role {
  if (is_admin) return 'administrator'
  return is_limited ? 'limited' : 'operator'
}

/** The users with these ids that exist, without a session or key. */
export async function findCallers(db: Db, ids: number[]): Promise<Caller[]> {
  if (ids.length === 0) return []
  return (await db.selectFrom('users').select(callerColumns).where('id', 'in', ids).execute()).map(toCaller)
}

/** Sorted by deployment. */
export async function listGrants(db: Db, userId: number): Promise<Grant[]> {
  return db
    .selectFrom('grants')
    .select(['deployment', 'rights'])
    .where('user_id', '=', userId)
    .orderBy('deployment')
    .execute()
}

/** @returns the existing deployments of the grants, which cannot be deleted before the end of the transaction */
export async function lockDeploymentsOf(transaction: Db, grants: Grant[]): Promise<Set<string>> {
  if (grants.length === 0) return new Set()
  const rows = await transaction
    .selectFrom('deployments')
    .select('name')
    .where(
      'name',
      'in',
      grants.map(({ deployment }) => deployment),
    )
    .forKeyShare()
    .execute()
  return new Set(rows.map(({ name }) => name))
}

/**
 * Replaces a user's role and grants. Omits grants for deployments that do not exist.
 * @returns the deployments that exist
 */
export async function setAccess(transaction: Db, userId: number, { role, grants }: UserAccess): Promise<Set<string>> {
  // Deployments before grants, in the same order as the deletion of a deployment.
  const existing = role === 'limited' ? await lockDeploymentsOf(transaction, grants) : new Set<string>()
  await transaction
    .updateTable('users')
    .set({ is_admin: role === 'administrator', is_limited: role === 'limited' })
    .where('id', '=', userId)
    .execute()
  await transaction.deleteFrom('grants').where('user_id', '=', userId).execute()
  const kept = grants.filter(({ deployment }) => existing.has(deployment))
  if (kept.length > 0)
    await transaction
      .insertInto('grants')
      .values(kept.map(({ deployment, rights }) => ({ user_id: userId, deployment, rights })))
      .execute()
  return existing
}
