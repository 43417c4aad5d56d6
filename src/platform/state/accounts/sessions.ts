import { sql, type Selectable } from 'kysely'
import type { Db } from '../db'
import type { State } from '../schema'

/** The current user of a valid session. */
export interface SessionUser {
  sessionId: string
  userId: number
  username: string
  isAdmin: boolean
}

export async function insertSession(
  db: Db,
  session: { id: string; user_id: number; expires_at: Date; device: string; address: string },
): Promise<void> {
  await db.insertInto('sessions').values(session).execute()
}

/** Also updates `last_used_at`, at most once a minute. */
export async function findSession(db: Db, id: string): Promise<SessionUser | undefined> {
  const row = await db
    .selectFrom('sessions')
    .innerJoin('users', 'users.id', 'sessions.user_id')
    .select([
      'users.id as userId',
      'users.username',
      'users.is_admin as isAdmin',
      sql<boolean>`last_used_at < now() - interval '1 minute'`.as('isStale'),
    ])
    .where('sessions.id', '=', id)
    .where('expires_at', '>', sql<Date>`now()`)
    .executeTakeFirst()
  if (!row) return undefined
  if (row.isStale)
    await db
      .updateTable('sessions')
      .set({ last_used_at: sql<Date>`now()` })
      .where('id', '=', id)
      .execute()
  const { userId, username, isAdmin } = row
  return { sessionId: id, userId, username, isAdmin }
}

export async function deleteSession(db: Db, id: string): Promise<void> {
  await db.deleteFrom('sessions').where('id', '=', id).execute()
}

/** Returns which of these sessions are valid, each with whether its user is an administrator. */
export async function findValidSessions(db: Db, ids: string[]): Promise<Map<string, boolean>> {
  if (ids.length === 0) return new Map()
  const rows = await db
    .selectFrom('sessions')
    .innerJoin('users', 'users.id', 'sessions.user_id')
    .select(['sessions.id', 'users.is_admin'])
    .where('sessions.id', 'in', ids)
    .where('expires_at', '>', sql<Date>`now()`)
    .execute()
  return new Map(rows.map(({ id, is_admin }) => [id, is_admin]))
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

/** @returns false if the user had no such session */
export async function deleteSessionOf(db: Db, userId: number, id: string): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('sessions')
    .where('user_id', '=', userId)
    .where('id', '=', id)
    .executeTakeFirst()
  return numDeletedRows === 1n
}

export async function deleteOtherSessions(db: Db, userId: number, keptId: string): Promise<void> {
  await db.deleteFrom('sessions').where('user_id', '=', userId).where('id', '!=', keptId).execute()
}

/** Deletes expired sessions, login steps, registrations and download tickets. */
export async function dropExpired(db: Db): Promise<void> {
  for (const table of ['sessions', 'login_steps', 'registrations', 'download_tickets'] as const) {
    await db
      .deleteFrom(table)
      .where('expires_at', '<', sql<Date>`now()`)
      .execute()
  }
}
