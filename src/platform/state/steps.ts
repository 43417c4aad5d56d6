import { sql, type Selectable } from 'kysely'
import type { Db } from './db'
import type { State } from './schema'

export type RegistrationRow = Selectable<State['registrations']>

const inTime = sql<boolean>`expires_at > now()`

export async function insertLoginStep(
  db: Db,
  step: { token_hash: string; user_id: number; expires_at: Date },
): Promise<void> {
  await db.insertInto('login_steps').values(step).execute()
}

/** Takes one of the tries of a step of signing in. Undefined when there is no such step, or no try left. */
export async function takeLoginTry(
  db: Db,
  tokenHash: string,
  maxTries: number,
): Promise<{ user_id: number } | undefined> {
  return db
    .updateTable('login_steps')
    .set({ tries: sql<number>`tries + 1` })
    .where('token_hash', '=', tokenHash)
    .where('tries', '<', maxTries)
    .where(inTime)
    .returning('user_id')
    .executeTakeFirst()
}

export async function giveBackLoginTry(db: Db, tokenHash: string): Promise<void> {
  await db
    .updateTable('login_steps')
    .set({ tries: sql<number>`greatest(tries - 1, 0)` })
    .where('token_hash', '=', tokenHash)
    .execute()
}

/** @returns how many tries were taken of it; undefined when it is gone: of two at once one gets it. */
export async function deleteLoginStep(db: Db, tokenHash: string): Promise<number | undefined> {
  const step = await db
    .deleteFrom('login_steps')
    .where('token_hash', '=', tokenHash)
    .returning('tries')
    .executeTakeFirst()
  return step?.tries
}

export async function insertRegistration(
  db: Db,
  registration: { token_hash: string; invite_code: string; expires_at: Date },
): Promise<void> {
  await db.insertInto('registrations').values(registration).execute()
}

export async function findRegistration(db: Db, tokenHash: string): Promise<RegistrationRow | undefined> {
  return db.selectFrom('registrations').selectAll().where('token_hash', '=', tokenHash).where(inTime).executeTakeFirst()
}

/** What the second call of registering adds; made again, it replaces what was there and the tries begin anew. */
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

/** As takeLoginTry. */
export async function takeRegistrationTry(
  db: Db,
  tokenHash: string,
  maxTries: number,
): Promise<RegistrationRow | undefined> {
  return db
    .updateTable('registrations')
    .set({ tries: sql<number>`tries + 1` })
    .where('token_hash', '=', tokenHash)
    .where('tries', '<', maxTries)
    .where(inTime)
    .returningAll()
    .executeTakeFirst()
}

export async function deleteRegistration(db: Db, tokenHash: string): Promise<void> {
  await db.deleteFrom('registrations').where('token_hash', '=', tokenHash).execute()
}
