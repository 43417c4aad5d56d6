import { sql, type Insertable, type Selectable } from 'kysely'
import type { Caller } from '../../caller'
import type { Db } from '../db'
import type { State } from '../schema'
import { callerColumns, toCaller } from './access'

export type ApiKeyRow = Omit<Selectable<State['api_keys']>, 'key_hash' | 'window_start' | 'window_calls'> & {
  /** Sorted; empty for a key for all deployments. */
  deployments: string[]
}

/** Length in seconds of the windows in which the calls of a key are limited. */
export const WINDOW_SECONDS = 60

const deploymentsOfKey = sql<string[]>`
  array(select deployment from api_key_deployments where key_id = api_keys.id order by deployment)`.as('deployments')

/** @throws the database's error of a missing reference (see isMissingReference) when a deployment does not exist */
export async function insertApiKey(
  transaction: Db,
  key: Insertable<State['api_keys']>,
  deployments: string[],
): Promise<void> {
  await transaction.insertInto('api_keys').values(key).execute()
  if (deployments.length > 0)
    await transaction
      .insertInto('api_key_deployments')
      .values(deployments.map((deployment) => ({ key_id: key.id, deployment })))
      .execute()
}

/** A user's keys, newest first, including expired ones. */
export async function listApiKeys(db: Db, userId: number): Promise<ApiKeyRow[]> {
  return db
    .selectFrom('api_keys')
    .select(['id', 'user_id', 'name', 'prefix', 'scopes', 'all_deployments'])
    .select(['created_at', 'expires_at', 'last_used_at', deploymentsOfKey])
    .where('user_id', '=', userId)
    .orderBy('created_at', 'desc')
    .orderBy('id')
    .execute()
}

/** @returns the key's name; undefined if the user has no such key */
export async function deleteApiKey(db: Db, userId: number, id: string): Promise<string | undefined> {
  const deleted = await db
    .deleteFrom('api_keys')
    .where('user_id', '=', userId)
    .where('id', '=', id)
    .returning('name')
    .executeTakeFirst()
  return deleted?.name
}

/** The calls of a key in the present window. */
export interface KeyCalls {
  /** Including this one. */
  calls: number
  /** Whole seconds until the window ends, at least 1. */
  secondsLeft: number
}

/** Counts a call of a valid key, in one statement, so that concurrent calls of all replicas count. */
export async function countKeyCall(db: Db, keyHash: string): Promise<({ id: string } & KeyCalls) | undefined> {
  // A window that begins in the future was created while the clock was ahead.
  const isOver = sql<boolean>`window_start not between now() - make_interval(secs => ${WINDOW_SECONDS}) and now()`
  const row = await db
    .updateTable('api_keys')
    .set({
      window_calls: sql<number>`case when ${isOver} then 1 else window_calls + 1 end`,
      window_start: sql<Date>`case when ${isOver} then now() else window_start end`,
      last_used_at: sql<Date>`now()`,
    })
    .where('key_hash', '=', keyHash)
    .where((where) => where.or([where('expires_at', 'is', null), where('expires_at', '>', sql<Date>`now()`)]))
    .returning([
      'id',
      'window_calls as calls',
      sql<number>`ceil(extract(epoch from window_start - now()) + ${WINDOW_SECONDS})::int`.as('left'),
    ])
    .executeTakeFirst()
  return row && { id: row.id, calls: row.calls, secondsLeft: Math.max(1, row.left) }
}

/** The users of those keys that are valid, each with its key. */
export async function findApiKeys(db: Db, ids: string[]): Promise<(Caller & { key: NonNullable<Caller['key']> })[]> {
  if (ids.length === 0) return []
  const rows = await db
    .selectFrom('api_keys')
    .innerJoin('users', 'users.id', 'api_keys.user_id')
    .select([...callerColumns, 'api_keys.id', 'api_keys.name', 'scopes', 'all_deployments', deploymentsOfKey])
    .where('api_keys.id', 'in', ids)
    .where((where) => where.or([where('expires_at', 'is', null), where('expires_at', '>', sql<Date>`now()`)]))
    .execute()
  return rows.map((row) => ({
    ...toCaller(row),
    key: {
      id: row.id,
      name: row.name,
      scopes: new Set(row.scopes),
      deployments: row.all_deployments ? undefined : new Set(row.deployments),
    },
  }))
}
