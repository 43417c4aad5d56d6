import { sql } from 'kysely'
import type { Db } from '../db'

const NAME = 'manager'

/** Records the manager's heartbeat with the database's clock. */
export async function recordHeartbeat(db: Db): Promise<void> {
  await db
    .insertInto('heartbeats')
    .values({ name: NAME, at: sql<Date>`now()` })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ at: sql<Date>`now()` }))
    .execute()
}

/** Whether the manager's last heartbeat is older than `ms` milliseconds, by the database's clock. */
export async function isHeartbeatOlder(db: Db, ms: number): Promise<boolean> {
  const recent = db
    .selectFrom('heartbeats')
    .select('name')
    .where('name', '=', NAME)
    .where('at', '>', sql<Date>`now() - make_interval(secs => ${ms / 1000})`)
  return (await recent.executeTakeFirst()) === undefined
}

/** The manager's last heartbeat in milliseconds since the epoch; 0 if there was none. */
export async function findLastHeartbeat(db: Db): Promise<number> {
  const row = await db.selectFrom('heartbeats').select('at').where('name', '=', NAME).executeTakeFirst()
  return row?.at.getTime() ?? 0
}
