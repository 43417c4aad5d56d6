import { sql, type Selectable } from 'kysely'
import type { Db } from '../db'
import type { State } from '../schema'
import { keepNewest } from './newestRows'

/** The challenges of one user. One more deletes the oldest. */
const MAX_CHALLENGES = 100

export type ChallengeRow = Selectable<State['challenges']>

/** The owner of a challenge. All null: anybody who signs in with a passkey alone. */
export type ChallengeOwner = Pick<ChallengeRow, 'user_id' | 'session_id' | 'step_hash'>

/** Stores a challenge without attempts. Deletes those of its user beyond MAX_CHALLENGES. */
export async function insertChallenge(db: Db, row: Omit<ChallengeRow, 'tries'>): Promise<void> {
  if (row.user_id !== null) await keepNewest(db, 'challenges', ['user_id', row.user_id], MAX_CHALLENGES - 1)
  await db.insertInto('challenges').values(row).execute()
}

/**
 * Deletes and returns a challenge, which can be answered only once.
 * @returns undefined if it is unknown, used, expired, for another purpose or for another owner
 */
export async function takeChallenge(
  db: Db,
  hash: string,
  purpose: string,
  owner: ChallengeOwner,
): Promise<ChallengeRow | undefined> {
  return db
    .deleteFrom('challenges')
    .where(matches(hash, purpose, owner))
    .returningAll()
    .executeTakeFirst()
}

/** Counts an attempt at a challenge that allows several. @returns as takeChallenge; undefined also after too many */
export async function countChallengeAttempt(
  db: Db,
  hash: string,
  purpose: string,
  owner: ChallengeOwner,
  maxAttempts: number,
): Promise<ChallengeRow | undefined> {
  return db
    .updateTable('challenges')
    .set({ tries: sql<number>`tries + 1` })
    .where(matches(hash, purpose, owner))
    .where('tries', '<', maxAttempts)
    .returningAll()
    .executeTakeFirst()
}

const matches = (hash: string, purpose: string, { user_id, session_id, step_hash }: ChallengeOwner) =>
  sql<boolean>`hash = ${hash} and purpose = ${purpose} and expires_at > now()
    and user_id is not distinct from ${user_id}::integer
    and session_id is not distinct from ${session_id}::uuid
    and step_hash is not distinct from ${step_hash}::text`
