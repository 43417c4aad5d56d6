import { sql, type Selectable } from 'kysely'
import type { Caller } from '../../caller'
import type { Db } from '../db'
import type { State } from '../schema'
import { callerColumns, toCaller } from './access'
import { keepNewest } from './newestRows'

/** The sessions of one user. One more sign-in ends the session that was not used for the longest time. */
const MAX_SESSIONS = 1000

/** The current user of a valid session. */
export type SessionUser = Caller & { sessionId: string }

/**
 * Records the sign-in with the user, and the previous sign-in with the session. Deletes the user's sessions beyond
 * MAX_SESSIONS.
 */
export async function insertSession(
  db: Db,
  session: { id: string; user_id: number; expires_at: Date; device: string; address: string },
): Promise<void> {
  await keepNewest(db, 'sessions', ['user_id', session.user_id], MAX_SESSIONS - 1)
  await db
    // One statement, so that concurrent sign-ins are recorded one after the other.
    .with('previous', (query) =>
      query
        .selectFrom('users')
        .select(['last_sign_in_at', 'last_sign_in_address'])
        .where('id', '=', session.user_id)
        .forUpdate(),
    )
    .with('recorded', (query) =>
      query
        .updateTable('users')
        .set({ last_sign_in_at: sql<Date>`now()`, last_sign_in_address: session.address })
        .where('id', '=', session.user_id),
    )
    .insertInto('sessions')
    .values({
      ...session,
      previous_sign_in_at: (query) => query.selectFrom('previous').select('last_sign_in_at'),
      previous_sign_in_address: (query) => query.selectFrom('previous').select('last_sign_in_address'),
    })
    .execute()
}

/** The user's previous sign-in, before the one that opened this session. Undefined if there was none. */
export async function findPreviousSignIn(db: Db, id: string): Promise<{ at: Date; address: string } | undefined> {
  const row = await db
    .selectFrom('sessions')
    .select(['previous_sign_in_at as at', 'previous_sign_in_address as address'])
    .where('id', '=', id)
    .executeTakeFirst()
  return row?.at && row.address !== null ? { at: row.at, address: row.address } : undefined
}

/**
 * Locks a session until the transaction ends, so that nothing ends the session before.
 * @returns false if it has ended already
 */
export async function lockSession(
  transaction: Db,
  { userId, sessionId }: Pick<SessionUser, 'userId' | 'sessionId'>,
): Promise<boolean> {
  // Locks the user first, like the deletion of users with their sessions. Another order could deadlock.
  await transaction.selectFrom('users').select('id').where('id', '=', userId).forKeyShare().execute()
  const session = transaction.selectFrom('sessions').select('id').where('id', '=', sessionId).forShare()
  return (await session.executeTakeFirst()) !== undefined
}

export async function deleteSession(db: Db, id: string): Promise<void> {
  await db.deleteFrom('sessions').where('id', '=', id).execute()
}

/** The users of those sessions that are valid. */
export async function findSessions(db: Db, ids: string[]): Promise<SessionUser[]> {
  return ids.length === 0 ? [] : readSessions(db, ids)
}

/** As `findSessions`. Also updates `last_used_at`, at most once a minute. */
export async function useSessions(db: Db, ids: string[]): Promise<SessionUser[]> {
  if (ids.length === 0) return []
  const used = db.with('used', (query) =>
    query
      .updateTable('sessions')
      .set({ last_used_at: sql<Date>`now()` })
      .where('id', 'in', (stale) =>
        stale
          .selectFrom('sessions')
          .select('id')
          .where('id', 'in', ids)
          .where('last_used_at', '<', sql<Date>`now() - interval '1 minute'`)
          // A locked session is being updated by another replica or deleted. Waiting could deadlock.
          .forUpdate()
          .skipLocked(),
      ),
  )
  return readSessions(used, ids)
}

async function readSessions(db: Pick<Db, 'selectFrom'>, ids: string[]): Promise<SessionUser[]> {
  const rows = await db
    .selectFrom('sessions')
    .innerJoin('users', 'users.id', 'sessions.user_id')
    .select([...callerColumns, 'sessions.id as sessionId'])
    .where('sessions.id', 'in', ids)
    .where('expires_at', '>', sql<Date>`now()`)
    .execute()
  return rows.map((row) => ({ ...toCaller(row), sessionId: row.sessionId }))
}

/** The valid sessions of a user, the last used first. */
export async function listSessions(db: Db, userId: number): Promise<Selectable<State['sessions']>[]> {
  return db
    .selectFrom('sessions')
    .selectAll()
    .where('user_id', '=', userId)
    .where('expires_at', '>', sql<Date>`now()`)
    .orderBy('last_used_at', 'desc')
    .orderBy('id')
    .execute()
}

/** The addresses of the valid sessions of a user. Not the sessions, which for some users take milliseconds to read. */
export async function listSessionAddresses(db: Db, userId: number): Promise<string[]> {
  const rows = await db
    .selectFrom('sessions')
    .select('address')
    .distinct()
    .where('user_id', '=', userId)
    .where('expires_at', '>', sql<Date>`now()`)
    .execute()
  return rows.map(({ address }) => address)
}

/** @returns false if the user had no such session */
export async function deleteSessionOf(db: Db, userId: number, id: string): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('sessions')
    .where('user_id', '=', userId)
    .where('id', '=', id)
    .executeTakeFirst()
  return numDeletedRows === 1n
}

/** Deletes a user's sessions except a kept one. */
export async function deleteSessionsOf(db: Db, userId: number, keptId?: string): Promise<void> {
  let sessions = db.deleteFrom('sessions').where('user_id', '=', userId)
  if (keptId !== undefined) sessions = sessions.where('id', '!=', keptId)
  await sessions.execute()
}

/**
 * Deletes expired sessions, login steps, challenges, sign-ins by OpenID Connect, registrations and download tickets.
 */
export async function dropExpired(db: Db): Promise<void> {
  for (const table of [
    'sessions',
    'login_steps',
    'challenges',
    'openid_steps',
    'registrations',
    'download_tickets',
  ] as const) {
    await db
      .deleteFrom(table)
      .where('expires_at', '<', sql<Date>`now()`)
      .execute()
  }
}
