import type { Selectable } from 'kysely'
import type { Db } from './db'
import type { State } from './schema'

export type InstanceRow = Selectable<State['instances']>

/** By slot. */
export async function listInstances(db: Db, deployment?: string): Promise<InstanceRow[]> {
  return db
    .selectFrom('instances')
    .selectAll()
    .$if(deployment !== undefined, (query) => query.where('deployment', '=', deployment ?? ''))
    .orderBy('deployment')
    .orderBy('slot')
    .execute()
}

export async function insertInstance(db: Db, instance: Pick<InstanceRow, 'uid' | 'deployment' | 'name' | 'pod_name' | 'slot'>): Promise<InstanceRow> {
  return db.insertInto('instances').values(instance).returningAll().executeTakeFirstOrThrow()
}

export async function deleteInstance(db: Db, uid: string): Promise<void> {
  await db.deleteFrom('instances').where('uid', '=', uid).execute()
}

export async function setWanted(db: Db, uid: string, wanted: InstanceRow['wanted']): Promise<void> {
  await db.updateTable('instances').set({ wanted }).where('uid', '=', uid).execute()
}

/** What the manager noted about the end of a run; the same end noted again changes nothing. */
export async function noteEnd(
  db: Db,
  uid: string,
  end: { runId: string; crashes: number[]; startAfter: Date | null; blockedReason: string | null },
): Promise<void> {
  await db
    .updateTable('instances')
    .set({
      handled_run: end.runId,
      crashes: JSON.stringify(end.crashes),
      start_after: end.startAfter,
      blocked_reason: end.blockedReason,
      // A restart that ended in a block is over.
      ...(end.blockedReason !== null && { restart_run: null }),
    })
    .where('uid', '=', uid)
    .execute()
}

/** Why it is not started although it is wanted; null lifts it and forgets its crashes. */
export async function setBlocked(db: Db, uid: string, reason: string | null): Promise<void> {
  await db
    .updateTable('instances')
    .set({ blocked_reason: reason, ...(reason === null ? { crashes: '[]', start_after: null } : { restart_run: null }) })
    .where('uid', '=', uid)
    .execute()
}

/** Asks for a run to be replaced; null: it has been, or need not be any more. */
export async function setRestartRun(db: Db, uid: string, runId: string | null): Promise<void> {
  await db.updateTable('instances').set({ restart_run: runId }).where('uid', '=', uid).execute()
}
