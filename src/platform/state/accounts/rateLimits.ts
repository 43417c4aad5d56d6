import { sql } from 'kysely'
import type { Db } from '../db'

/**
 * Counts an attempt in a window that begins with the first one. Uses one statement, so that concurrent attempts all
 * count. A window that ends more than a minute (for concurrent attempts) after a window that begins now is discarded:
 * it began while the clock was ahead.
 * @param seconds length of the window
 * @returns the attempts in the window including this one, and the whole seconds until it ends
 */
export async function countAttempt(
  db: Db,
  key: string,
  seconds: number,
): Promise<{ count: number; secondsLeft: number }> {
  const { rows } = await sql<{ count: number; seconds_left: number }>`
    insert into tries as t (key, count, resets_at) values (${key}, 1, now() + make_interval(secs => ${seconds}))
    on conflict (key) do update set
      count = case when t.resets_at > now() and t.resets_at <= excluded.resets_at + interval '1 minute' then t.count + 1 else 1 end,
      resets_at = case when t.resets_at > now() and t.resets_at <= excluded.resets_at + interval '1 minute' then t.resets_at else excluded.resets_at end
    returning count, ceil(extract(epoch from resets_at - now()))::int as seconds_left`.execute(db)
  const row = rows[0]
  return { count: row?.count ?? 1, secondsLeft: Math.max(1, row?.seconds_left ?? seconds) }
}

/** Ends a window early, after a success. */
export async function resetAttempts(db: Db, key: string): Promise<void> {
  await db.deleteFrom('tries').where('key', '=', key).execute()
}

/** Uncounts one attempt in a window. */
export async function uncountAttempt(db: Db, key: string): Promise<void> {
  await db
    .updateTable('tries')
    .set({ count: sql<number>`greatest(count - 1, 0)` })
    .where('key', '=', key)
    .execute()
}

/** Deletes the windows that have ended. */
export async function deleteOldAttempts(db: Db): Promise<void> {
  await db
    .deleteFrom('tries')
    .where('resets_at', '<', sql<Date>`now()`)
    .execute()
}
