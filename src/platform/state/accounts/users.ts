import { sql, type Insertable, type Selectable } from 'kysely'
import { USERNAME_PATTERN } from '../../../contract/rules'
import type { Db } from '../db'
import type { State } from '../schema'

export type UserRow = Selectable<State['users']>

/** Ignores case. */
export async function findUserByName(db: Db, username: string): Promise<UserRow | undefined> {
  // In many locales `lower` maps a foreign letter to one of a name (`İ` to `i`). Limits would count it as another name.
  const name = USERNAME_PATTERN.test(username) ? username : ''
  return db
    .selectFrom('users')
    .selectAll()
    .where(sql<boolean>`lower(username) = lower(${name})`)
    .executeTakeFirst()
}

/** @throws the database's duplicate error (see isDuplicate) when the name is taken */
export async function insertUser(db: Db, user: Insertable<State['users']>): Promise<number> {
  const { id } = await db.insertInto('users').values(user).returning('id').executeTakeFirstOrThrow()
  return id
}

/** False without users, and possibly if all users were created by OpenID Connect. */
export async function hasAdmin(db: Db): Promise<boolean> {
  const admin = db.selectFrom('users').select('id').where('is_admin', '=', true).limit(1)
  return (await admin.executeTakeFirst()) !== undefined
}

/** Sorted by registration. `lastSeen` includes valid sessions and API keys. */
export async function listUsers(
  db: Db,
): Promise<(Pick<UserRow, 'id' | 'username' | 'is_admin' | 'is_limited'> & { lastSeen: Date | null })[]> {
  return db
    .selectFrom('users')
    .select(['id', 'username', 'is_admin', 'is_limited'])
    .select(
      sql<Date | null>`greatest(
        (select max(last_used_at) from sessions where user_id = users.id),
        (select max(last_used_at) from api_keys where user_id = users.id))`.as('lastSeen'),
    )
    .orderBy('id')
    .execute()
}

/** An id from a request may exceed PostgreSQL's integer. */
const hasId = (id: number) => sql<boolean>`id = ${String(id)}::bigint`

/** @param id any number from a request; undefined is returned for one that no user has */
export async function findUser(db: Db, id: number): Promise<UserRow | undefined> {
  return db.selectFrom('users').selectAll().where(hasId(id)).executeTakeFirst()
}

/**
 * Serializes transactions on what one user has, which may have limits in number. Call it before the transaction locks
 * anything of the user: deleting a user and changing a password lock the user first, so another order could deadlock.
 * @returns false if the user was deleted
 */
export async function lockUser(transaction: Db, id: number): Promise<boolean> {
  const user = transaction.selectFrom('users').select('id').where('id', '=', id).forUpdate()
  return (await user.executeTakeFirst()) !== undefined
}

/**
 * As lockUser, after a check of the password, which takes a while: a change or reset of it has ended already what the
 * old one had opened.
 * @returns false also if the password was changed since
 */
export async function lockVerifiedUser(
  transaction: Db,
  { id, password_hash }: Pick<UserRow, 'id' | 'password_hash'>,
): Promise<boolean> {
  const user = transaction.selectFrom('users').select('id').where('id', '=', id)
  return (await user.where('password_hash', '=', password_hash).forUpdate().executeTakeFirst()) !== undefined
}

/**
 * Serializes transactions that remove administrator rights, so that each sees the result of the previous one. Uses one
 * lock, because row locks of changing rows are taken in no fixed order (deadlocks).
 * @returns the administrators' ids
 */
export async function lockAdmins(transaction: Db): Promise<Set<number>> {
  await sql`select pg_advisory_xact_lock(hashtextextended('administrators', 0))`.execute(transaction)
  const rows = await transaction.selectFrom('users').select('id').where('is_admin', '=', true).execute()
  return new Set(rows.map(({ id }) => id))
}

/** A limited user who becomes administrator loses their grants: they have all rights. */
export async function setUserAdmin(db: Db, id: number, isAdmin: boolean): Promise<void> {
  if (!isAdmin) {
    await db.updateTable('users').set({ is_admin: false }).where('id', '=', id).execute()
    return
  }
  await db.updateTable('users').set({ is_admin: true, is_limited: false }).where('id', '=', id).execute()
  await db.deleteFrom('grants').where('user_id', '=', id).execute()
}

/**
 * Sets a new password. Ends the user's login steps, proofs of identity, any wait for wrong codes, and all sessions
 * except a kept one.
 * @param expected the hash to replace; nothing changes if another one is stored
 * @returns whether it was changed
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
  // Deleted before the sessions, because this waits for a transaction that creates a session from a login step.
  await transaction.deleteFrom('login_steps').where('user_id', '=', id).execute()
  let sessions = transaction.deleteFrom('sessions').where('user_id', '=', id)
  if (keptSession !== undefined) sessions = sessions.where('id', '!=', keptSession)
  await sessions.execute()
  // Those of the kept session: proofs that were made with the old password.
  await transaction.deleteFrom('challenges').where('user_id', '=', id).where('purpose', '=', 'change').execute()
  // The wrong codes were entered with the old password.
  await transaction.updateTable('wrong_codes').set({ blocked_until: null }).where('user_id', '=', id).execute()
  return true
}

/**
 * Deletes every way to sign in without the password: API keys, passkeys, and the connection to a provider. Call it
 * after deleting the sessions: creating one of these locks its session (`lockSession`), so none is missed.
 */
export async function deleteOtherAccess(transaction: Db, id: number): Promise<void> {
  for (const table of ['api_keys', 'passkeys', 'openid_identities'] as const)
    await transaction.deleteFrom(table).where('user_id', '=', id).execute()
}

/** Also deletes the user's sessions, login steps, grants and API keys. */
export async function deleteUser(db: Db, id: number): Promise<void> {
  await db.deleteFrom('users').where('id', '=', id).execute()
}
