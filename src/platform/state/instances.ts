import type { Selectable } from 'kysely'
import type { Db } from './db'
import type { State } from './schema'

export type InstanceRow = Selectable<State['instances']>

/** Oldest first. */
export async function listInstances(db: Db, deployment?: string): Promise<InstanceRow[]> {
  return db
    .selectFrom('instances')
    .selectAll()
    .$if(deployment !== undefined, (query) => query.where('deployment', '=', deployment ?? ''))
    .orderBy('created_at')
    .orderBy('uid')
    .execute()
}

export async function insertInstance(db: Db, instance: Pick<InstanceRow, 'uid' | 'deployment' | 'name' | 'pod_name'>): Promise<void> {
  await db.insertInto('instances').values(instance).execute()
}

/** What the manager noted about the end of a run; the same end noted again changes nothing. */
export async function noteEnd(
  db: Db,
  uid: string,
  end: { runId: string; crashes: number[]; startAfter: Date | null; blockedReason: string | null },
): Promise<void> {
  await db
    .updateTable('instances')
    .set({ handled_run: end.runId, crashes: JSON.stringify(end.crashes), start_after: end.startAfter, blocked_reason: end.blockedReason })
    .where('uid', '=', uid)
    .execute()
}
