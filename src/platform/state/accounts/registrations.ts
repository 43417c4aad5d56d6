import { sql, type Selectable } from 'kysely'
import type { Db } from '../db'
import type { State } from '../schema'

export type RegistrationRow = Selectable<State['registrations']>

const isNotExpired = sql<boolean>`expires_at > now()`

/** Stores the first call of a registration. The second adds the account (`setRegistrationAccount`). */
export async function insertRegistration(
  db: Db,
  registration: { token_hash: string; invite_code: string; expires_at: Date },
): Promise<void> {
  await db.insertInto('registrations').values(registration).execute()
}

/** Finds a registration that has not expired. */
export async function findRegistration(db: Db, tokenHash: string): Promise<RegistrationRow | undefined> {
  return db
    .selectFrom('registrations')
    .selectAll()
    .where('token_hash', '=', tokenHash)
    .where(isNotExpired)
    .executeTakeFirst()
}

/** Stores the second call's data. Repeating the call replaces it and resets the attempts. */
export async function setRegistrationAccount(
  db: Db,
  tokenHash: string,
  account: { username: string; password_hash: string; totp_secret: string },
): Promise<void> {
  await db
    .updateTable('registrations')
    .set({ ...account, tries: 0 })
    .where('token_hash', '=', tokenHash)
    .execute()
}

/** Counts an attempt. @returns undefined if the registration is expired, unknown or out of attempts */
export async function countRegistrationAttempt(
  db: Db,
  tokenHash: string,
  maxAttempts: number,
): Promise<RegistrationRow | undefined> {
  return db
    .updateTable('registrations')
    .set({ tries: sql<number>`tries + 1` })
    .where('token_hash', '=', tokenHash)
    .where('tries', '<', maxAttempts)
    .where(isNotExpired)
    .returningAll()
    .executeTakeFirst()
}

export async function deleteRegistration(db: Db, tokenHash: string): Promise<void> {
  await db.deleteFrom('registrations').where('token_hash', '=', tokenHash).execute()
}
