import { sql, type Selectable } from 'kysely'
import type { CrashCapsule, LastExit } from '../../contract/instance'
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

/** Pod names are unique over all deployments. */
export async function findInstanceByPod(db: Db, podName: string): Promise<InstanceRow | undefined> {
  return db.selectFrom('instances').selectAll().where('pod_name', '=', podName).executeTakeFirst()
}

export async function insertInstance(
  db: Db,
  instance: Pick<InstanceRow, 'uid' | 'deployment' | 'name' | 'pod_name' | 'slot'>,
): Promise<InstanceRow> {
  return db.insertInto('instances').values(instance).returningAll().executeTakeFirstOrThrow()
}

export async function deleteInstance(db: Db, uid: string): Promise<void> {
  await db.deleteFrom('instances').where('uid', '=', uid).execute()
}

/** What the manager is to bring it to: `running`, `stopped`, or `gone`, from which there is no way back. */
export async function setWanted(db: Db, uid: string, wanted: InstanceRow['wanted']): Promise<void> {
  await db.updateTable('instances').set({ wanted }).where('uid', '=', uid).execute()
}

export interface NotedEnd {
  runId: string
  crashes: number[]
  startAfter: Date | null
  blockedReason: string | null
  exit: LastExit
  /** Of an end by itself. */
  capsule: CrashCapsule | undefined
}

/** What the manager noted about the end of a run; a run whose end was noted before is left alone. */
export async function noteEnd(
  db: Db,
  uid: string,
  { runId, crashes, startAfter, blockedReason, exit, capsule }: NotedEnd,
): Promise<void> {
  await db
    .updateTable('instances')
    .set({
      handled_run: runId,
      crashes: JSON.stringify(crashes),
      start_after: startAfter,
      blocked_reason: blockedReason,
      block_lifts: false,
      last_exit: JSON.stringify(exit),
      // A restart that ended in a block is over.
      ...(blockedReason !== null && { restart_run: null }),
      ...(capsule && { crash: JSON.stringify(capsule), crashed_at: new Date(exit.at) }),
      // One that is blocked, or was to stop anyway, is not started again.
      ...(startAfter !== null && { restarts: sql<number>`restarts + 1` }),
    })
    .where('uid', '=', uid)
    .where('handled_run', 'is distinct from', runId)
    .execute()
}

/**
 * Why it is not started although it is wanted; null lifts it and forgets its crashes.
 * @param lifts whether the start is tried again by itself until the reason is gone
 */
export async function setBlocked(db: Db, uid: string, reason: string | null, lifts = false): Promise<void> {
  await db
    .updateTable('instances')
    .set({
      blocked_reason: reason,
      block_lifts: lifts,
      ...(reason === null ? { crashes: '[]', start_after: null } : { restart_run: null }),
    })
    .where('uid', '=', uid)
    .execute()
}

/** Notes that the console of a run was told that it starts late. */
export async function setLateRun(db: Db, uid: string, runId: string): Promise<void> {
  await db.updateTable('instances').set({ late_run: runId }).where('uid', '=', uid).execute()
}

/** Asks for a run to be drained, and what for; null: that is over. Asking again for the same run keeps its time. */
export async function setDrain(
  db: Db,
  uid: string,
  drain: { run: string; then: NonNullable<InstanceRow['drain_then']> } | null,
): Promise<void> {
  await db
    .updateTable('instances')
    .set({
      drain_run: drain?.run ?? null,
      drain_then: drain?.then ?? null,
      drain_since: drain && sql<Date | null>`case when drain_run = ${drain.run} then drain_since end`,
    })
    .where('uid', '=', uid)
    .execute()
}

/** Notes that the drain command was sent: the time-out begins. */
export async function setDrainSince(db: Db, uid: string, since: Date): Promise<void> {
  await db.updateTable('instances').set({ drain_since: since }).where('uid', '=', uid).execute()
}

/** Asks for a run to be replaced; null: it has been, or need not be any more. */
export async function setRestartRun(db: Db, uid: string, runId: string | null): Promise<void> {
  await db.updateTable('instances').set({ restart_run: runId }).where('uid', '=', uid).execute()
}
