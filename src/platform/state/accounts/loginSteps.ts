import { sql } from 'kysely'
import type { Db } from '../db'

const isNotExpired = sql<boolean>`expires_at > now()`

export async function insertLoginStep(
  db: Db,
  step: { token_hash: string; user_id: number; expires_at: Date },
): Promise<void> {
  await db.insertInto('login_steps').values(step).execute()
}

/** Counts an attempt at a login step. @returns undefined if the step is expired, unknown or out of attempts */
export async function countLoginAttempt(
  db: Db,
  tokenHash: string,
  maxAttempts: number,
): Promise<{ user_id: number } | undefined> {
  return db
    .updateTable('login_steps')
    .set({ tries: sql<number>`tries + 1` })
    .where('token_hash', '=', tokenHash)
    .where('tries', '<', maxAttempts)
    .where(isNotExpired)
    .returning('user_id')
    .executeTakeFirst()
}

/** Uncounts one attempt at a login step. */
export async function uncountLoginAttempt(db: Db, tokenHash: string): Promise<void> {
  await db
    .updateTable('login_steps')
    .set({ tries: sql<number>`greatest(tries - 1, 0)` })
    .where('token_hash', '=', tokenHash)
    .execute()
}

/** @returns the number of attempts; undefined if it was deleted before, so that only one of concurrent calls gets it */
export async function deleteLoginStep(db: Db, tokenHash: string): Promise<number | undefined> {
  const step = await db
    .deleteFrom('login_steps')
    .where('token_hash', '=', tokenHash)
    .returning('tries')
    .executeTakeFirst()
  return step?.tries
}
