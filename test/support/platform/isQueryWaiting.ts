import { sql } from 'kysely'
import type { Db } from '../../../src/platform/state/db'

/** Whether a query of this database waits for a lock. Other tests use other databases of the same server. */
export async function isQueryWaiting(db: Db): Promise<boolean> {
  const { rows } =
    await sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`.execute(db)
  return rows.length > 0
}
