import { sql } from 'kysely'
import type { Db } from '../db'

/**
 * The tables in which one owner may create rows without limit, each with its primary key and the column whose time is
 * later for newer rows.
 */
const TABLES = {
  sessions: { key: 'id', time: 'last_used_at' },
  challenges: { key: 'hash', time: 'expires_at' },
  download_tickets: { key: 'token_hash', time: 'expires_at' },
} as const

/**
 * Deletes all but the newest rows of an owner, so that one caller cannot fill a table.
 * @param owner the column that names the owner, and its value
 * @param count the number of rows that are kept
 * @returns the number of rows that were deleted
 */
export async function keepNewest(
  db: Db,
  table: keyof typeof TABLES,
  [column, value]: readonly ['user_id', number] | readonly ['session_id' | 'key_id', string],
  count: number,
): Promise<number> {
  const { key, time } = TABLES[table]
  // A locked row is in use or being deleted. Waiting for it could deadlock.
  const { numAffectedRows } = await sql`
    delete from ${sql.table(table)} where ${sql.ref(key)} in (
      select ${sql.ref(key)} from ${sql.table(table)} where ${sql.ref(column)} = ${value}
      order by ${sql.ref(time)} desc, ${sql.ref(key)} offset ${count} for update skip locked
    )`.execute(db)
  return Number(numAffectedRows ?? 0n)
}
