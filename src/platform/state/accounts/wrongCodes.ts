import { sql } from 'kysely'
import type { Db } from '../db'

/** The waits that wrong codes cause. */
export interface CodeWaits {
  /** Every n-th wrong code begins a wait. */
  every: number
  /** The first wait; each further one doubles it. */
  firstSeconds: number
  longestSeconds: number
}

/**
 * Counts a code as wrong before it is verified. Uses one statement, so that concurrent attempts all count. A wait that
 * would end more than a minute (for concurrent attempts) after the longest possible one is discarded: it began while
 * the clock was ahead.
 * @returns the wrong codes including this one, and the end of the wait that it begins, if any; undefined if the user is
 * waiting already
 */
export async function countCodeAttempt(
  db: Db,
  userId: number,
  at: Date,
  { every, firstSeconds, longestSeconds }: CodeWaits,
): Promise<{ count: number; blockedUntil: Date | null } | undefined> {
  const { rows } = await sql<{ count: number; blocked_until: Date | null }>`
    insert into wrong_codes as w (user_id, count, first_at) values (${userId}, 1, ${at})
    on conflict (user_id) do update set
      count = w.count + 1,
      first_at = case when w.count = 0 then excluded.first_at else w.first_at end,
      blocked_until = case when (w.count + 1) % ${every}::int = 0
        then excluded.first_at + make_interval(secs => least(${longestSeconds}, ${firstSeconds} * power(2, least((w.count + 1) / ${every}::int - 1, 30)))) end
    where w.blocked_until is null or w.blocked_until <= excluded.first_at or w.blocked_until > excluded.first_at + make_interval(secs => ${longestSeconds}, mins => 1)
    returning count, blocked_until`.execute(db)
  const row = rows[0]
  return row && { count: row.count, blockedUntil: row.blocked_until }
}

/** To be called after a correct code: uncounts it and ends the wait that it began. @param wait the end of that wait */
export async function uncountCodeAttempt(db: Db, userId: number, wait: Date | null): Promise<void> {
  await db
    .updateTable('wrong_codes')
    .set({
      count: sql<number>`greatest(count - 1, 0)`,
      blocked_until: sql<Date | null>`nullif(date_trunc('milliseconds', blocked_until), ${wait}::timestamptz)`,
    })
    .where('user_id', '=', userId)
    .execute()
}

/** @returns the end of the user's current wait, if any */
export async function findCodeWait(db: Db, userId: number): Promise<Date | undefined> {
  const row = await db
    .selectFrom('wrong_codes')
    .select('blocked_until')
    .where('user_id', '=', userId)
    .executeTakeFirst()
  return row?.blocked_until ?? undefined
}

/** @returns the wrong codes since the last sign-in; undefined if there were none */
export async function clearWrongCodes(db: Db, userId: number): Promise<{ count: number; first_at: Date } | undefined> {
  return db.deleteFrom('wrong_codes').where('user_id', '=', userId).returning(['count', 'first_at']).executeTakeFirst()
}
