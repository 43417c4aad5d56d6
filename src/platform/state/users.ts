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

/**
 * Marks a time step as used by a user's code.
 * @returns false when a code of this step or a later one was accepted before: of two at once exactly one gets true.
 */
export async function useTotpStep(db: Db, userId: number, step: number): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('users')
    .set({ totp_last_step: step })
    .where('id', '=', userId)
    .where('totp_last_step', '<', step)
    .executeTakeFirst()
  return numUpdatedRows === 1n
}
