import { sql } from 'kysely'
import type { Db } from './db'

/**
 * Counts one more try in a window that begins with its first, in one statement, so that tries at the same time all count. A window
 * that ends more than a minute (tries at the same time) after one that begins now, was begun while the clock was ahead: it is over.
 * @param seconds length of the window.
 * @returns how many there were in it with this one, and the whole seconds until it ends.
 */
export async function countTry(db: Db, key: string, seconds: number): Promise<{ count: number; secondsLeft: number }> {
  const { rows } = await sql<{ count: number; seconds_left: number }>`
    insert into tries as t (key, count, resets_at) values (${key}, 1, now() + make_interval(secs => ${seconds}))
    on conflict (key) do update set
      count = case when t.resets_at > now() and t.resets_at <= excluded.resets_at + interval '1 minute' then t.count + 1 else 1 end,
      resets_at = case when t.resets_at > now() and t.resets_at <= excluded.resets_at + interval '1 minute' then t.resets_at else excluded.resets_at end
    returning count, ceil(extract(epoch from resets_at - now()))::int as seconds_left`.execute(db)
  const row = rows[0]
  return { count: row?.count ?? 1, secondsLeft: Math.max(1, row?.seconds_left ?? seconds) }
}

/** Ends a window early: a success takes its failures back. */
export async function forgetTries(db: Db, key: string): Promise<void> {
  await db.deleteFrom('tries').where('key', '=', key).execute()
}

/** Takes one try back. */
export async function uncountTry(db: Db, key: string): Promise<void> {
  await db
    .updateTable('tries')
    .set({ count: sql<number>`greatest(count - 1, 0)` })
    .where('key', '=', key)
    .execute()
}

/** Removes windows that are over. */
export async function dropOldTries(db: Db): Promise<void> {
  await db
    .deleteFrom('tries')
    .where('resets_at', '<', sql<Date>`now()`)
    .execute()
}
