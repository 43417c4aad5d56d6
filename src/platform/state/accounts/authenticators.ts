import { sql, type Insertable, type Selectable } from 'kysely'
import type { Db } from '../db'
import type { State } from '../schema'

export type AuthenticatorRow = Selectable<State['authenticators']>

/** A user's authenticators, oldest first. */
export async function listAuthenticators(db: Db, userId: number): Promise<AuthenticatorRow[]> {
  return db
    .selectFrom('authenticators')
    .selectAll()
    .where('user_id', '=', userId)
    .orderBy('created_at')
    .orderBy('id')
    .execute()
}

export async function insertAuthenticator(db: Db, row: Insertable<State['authenticators']>): Promise<void> {
  await db.insertInto('authenticators').values(row).execute()
}

/** The distance in time steps between the oldest and the newest code that are valid at the same time. */
const MAX_STEP_SPAN = 2

/**
 * Marks a time step as used by an authenticator's code. A stored step more than `MAX_STEP_SPAN` later was used while
 * the clock was ahead and is ignored; otherwise the user could not sign in until the clock has caught up.
 * @param step the time step of a code that is valid now
 * @returns false if this step or a later one was used before; only one of concurrent calls gets true
 */
export async function markTotpStepUsed(db: Db, id: string, step: number): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('authenticators')
    .set({ last_step: step, last_used_at: sql<Date>`now()` })
    .where('id', '=', id)
    .where((where) => where.or([where('last_step', '<', step), where('last_step', '>', step + MAX_STEP_SPAN)]))
    .executeTakeFirst()
  return numUpdatedRows === 1n
}
