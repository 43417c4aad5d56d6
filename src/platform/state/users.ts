import { sql, type Selectable } from 'kysely'
import type { Db } from './db'
import type { State } from './schema'

export type UserRow = Selectable<State['users']>

const sameName = (username: string) => sql<boolean>`lower(username) = lower(${username})`

/** Usernames are unique without regard to case. */
export async function findUserByName(db: Db, username: string): Promise<UserRow | undefined> {
  return db.selectFrom('users').selectAll().where(sameName(username)).executeTakeFirst()
}

/** @throws the database's duplicate error (see isDuplicate) when the name is taken. */
export async function insertUser(db: Db, user: Omit<UserRow, 'id' | 'created_at'>): Promise<number> {
  const { id } = await db.insertInto('users').values(user).returning('id').executeTakeFirstOrThrow()
  return id
}

export async function hasUsers(db: Db): Promise<boolean> {
  return (await db.selectFrom('users').select('id').limit(1).executeTakeFirst()) !== undefined
}

/** From the oldest code that is accepted at a time to the newest one. */
const STEPS_AT_ONCE = 2

/**
 * Marks a time step as used by a user's code.
 * @param step of a code that is accepted now, so none of now can be more than `STEPS_AT_ONCE` later: one that is was used while the clock was ahead,
 * and does not count. Otherwise nobody who signed in then could do so again before the clock is there.
 * @returns false when a code of this step or a later one was accepted before: of two at once exactly one gets true.
 */
export async function useTotpStep(db: Db, userId: number, step: number): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('users')
    .set({ totp_last_step: step })
    .where('id', '=', userId)
    .where((where) =>
      where.or([where('totp_last_step', '<', step), where('totp_last_step', '>', step + STEPS_AT_ONCE)]),
    )
    .executeTakeFirst()
  return numUpdatedRows === 1n
}

/** In the order in which they registered. */
export async function listUsers(db: Db): Promise<Pick<UserRow, 'id' | 'username' | 'is_admin'>[]> {
  return db.selectFrom('users').select(['id', 'username', 'is_admin']).orderBy('id').execute()
}

/** An id from outside may be larger than any that PostgreSQL's integer can hold. */
const hasId = (id: number) => sql<boolean>`id = ${String(id)}::bigint`

export async function findUser(db: Db, id: number): Promise<UserRow | undefined> {
  return db.selectFrom('users').selectAll().where(hasId(id)).executeTakeFirst()
}

/**
 * Whoever takes rights away waits here until whoever else does has ended their transaction, and then sees what is left. One
 * lock for all: locks of rows that change while they are waited for are taken in no certain order (deadlocks).
 * @returns the administrators' ids.
 */
export async function lockAdmins(transaction: Db): Promise<Set<number>> {
  await sql`select pg_advisory_xact_lock(hashtextextended('administrators', 0))`.execute(transaction)
  const rows = await transaction.selectFrom('users').select('id').where('is_admin', '=', true).execute()
  return new Set(rows.map(({ id }) => id))
}

export async function setUserAdmin(db: Db, id: number, isAdmin: boolean): Promise<void> {
  await db.updateTable('users').set({ is_admin: isAdmin }).where('id', '=', id).execute()
}

/**
 * Sets another password and ends what the old one opened: sessions, but for one that is kept, steps of signing in, and a wait for wrong codes.
 * @param expected the hash that it replaces; when it is another one by now, nothing changes.
 * @returns whether it was changed.
 */
export async function replacePassword(
  transaction: Db,
  id: number,
  passwordHash: string,
  { expected, keptSession }: { expected?: string; keptSession?: string } = {},
): Promise<boolean> {
  let update = transaction.updateTable('users').set({ password_hash: passwordHash }).where('id', '=', id)
  if (expected !== undefined) update = update.where('password_hash', '=', expected)
  const { numUpdatedRows } = await update.executeTakeFirst()
  if (numUpdatedRows === 0n) return false
  // Before the sessions: who is about to make a session of a step is waited for.
  await transaction.deleteFrom('login_steps').where('user_id', '=', id).execute()
  let sessions = transaction.deleteFrom('sessions').where('user_id', '=', id)
  if (keptSession !== undefined) sessions = sessions.where('id', '!=', keptSession)
  await sessions.execute()
  // Who made the user wait had the old password.
  await transaction.updateTable('wrong_codes').set({ blocked_until: null }).where('user_id', '=', id).execute()
  return true
}

/** With everything that is theirs: sessions and steps of signing in. */
export async function deleteUser(db: Db, id: number): Promise<void> {
  await db.deleteFrom('users').where('id', '=', id).execute()
}
