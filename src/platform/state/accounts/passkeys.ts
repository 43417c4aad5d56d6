import { sql, type Insertable, type Selectable } from 'kysely'
import type { Db } from '../db'
import type { State } from '../schema'

export type PasskeyRow = Selectable<State['passkeys']>

/** A user's passkeys, oldest first. */
export async function listPasskeys(db: Db, userId: number): Promise<PasskeyRow[]> {
  return db
    .selectFrom('passkeys')
    .selectAll()
    .where('user_id', '=', userId)
    .orderBy('created_at')
    .orderBy('id')
    .execute()
}

export type NewPasskey = Insertable<State['passkeys']>

/** @throws the database's duplicate error (see isDuplicate) if the credential is registered already */
export async function insertPasskey(db: Db, row: NewPasskey): Promise<void> {
  await db.insertInto('passkeys').values(row).execute()
}

export async function findPasskey(db: Db, credentialId: string): Promise<PasskeyRow | undefined> {
  return db.selectFrom('passkeys').selectAll().where('credential_id', '=', credentialId).executeTakeFirst()
}

/**
 * Stores the counter of a use. Authenticators without a counter always send 0.
 * @returns false if the counter did not grow, or the passkey is gone; only one of concurrent calls with the same
 * counter gets true
 */
export async function markPasskeyUsed(db: Db, id: string, counter: number): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('passkeys')
    .set({ counter, last_used_at: sql<Date>`now()` })
    .where('id', '=', id)
    .where(sql<boolean>`(counter < ${counter}::bigint or (counter = 0 and ${counter}::bigint = 0))`)
    .executeTakeFirst()
  return numUpdatedRows === 1n
}
