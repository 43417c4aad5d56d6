import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import type { Logger } from 'pino'
import type { Db } from './db'

const HEARTBEAT_MS = 15_000
/** A replica that was not seen for this long has ended. */
const ENDED_AFTER = '5 minutes'

/** This process as a replica of the platform. */
export interface Replica {
  id: string
  close(): Promise<void>
}

/** Records that a replica runs, until it is closed. */
export async function registerReplica(db: Db, log: Pick<Logger, 'warn'>): Promise<Replica> {
  const id = randomUUID()
  const now = sql<Date>`now()`
  const sendHeartbeat = () =>
    db
      .insertInto('replicas')
      .values({ id, seen_at: now })
      .onConflict((conflict) => conflict.column('id').doUpdateSet({ seen_at: now }))
      .execute()
  await sendHeartbeat()
  const timer = setInterval(() => {
    sendHeartbeat().catch((error: unknown) =>
      log.warn({ err: error }, 'failed to record that this replica runs; retrying'),
    )
  }, HEARTBEAT_MS)
  return {
    id,
    async close() {
      clearInterval(timer)
      await db.deleteFrom('replicas').where('id', '=', id).execute()
    },
  }
}

/** Whether a column holds the id of a replica that has ended. */
export const hasEnded = (column: string, after = ENDED_AFTER) =>
  sql<boolean>`not exists (select from replicas r where r.id = ${sql.ref(column)} and r.seen_at > now() - ${after}::interval)`

/** Deletes ended replicas with their jobs. Their unfinished files remain to be removed. */
export async function dropEndedReplicas(db: Db): Promise<void> {
  await db.deleteFrom('file_jobs').where(hasEnded('file_jobs.replica')).execute()
  await db.deleteFrom('replicas').where(hasEnded('replicas.id')).execute()
}
