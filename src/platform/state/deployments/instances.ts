import { sql, type Selectable } from 'kysely'
import type { CrashCapsule, LastExit } from '../../../contract/instance'
import type { Db } from '../db'
import type { State } from '../schema'

/** All columns except `crash`: a crash capsule may take hundreds of kilobytes (see `findCrash`). */
const COLUMNS = [
  'uid',
  'deployment',
  'name',
  'pod_name',
  'slot',
  'wanted',
  'blocked_reason',
  'handled_run',
  'crashes',
  'start_after',
  'restart_run',
  'restarts',
  'last_exit',
  'crashed_at',
  'late_run',
  'block_lifts',
  'drain_run',
  'drain_then',
  'drain_since',
  'created_at',
] as const

export type InstanceRow = Pick<Selectable<State['instances']>, (typeof COLUMNS)[number]>

/** Sorted by deployment and slot. @param deployments names; default: all */
export async function listInstances(db: Db, deployments?: string[]): Promise<InstanceRow[]> {
  return db
    .selectFrom('instances')
    .select(COLUMNS)
    .$if(deployments !== undefined, (query) => query.where('deployment', '=', sql<string>`any(${deployments})`))
    .orderBy('deployment')
    .orderBy('slot')
    .execute()
}

/** Groups rows by deployment, in their order. @returns no entry for a deployment without rows */
export function groupByDeployment(rows: InstanceRow[]): Map<string, InstanceRow[]> {
  const groups = new Map<string, InstanceRow[]>()
  for (const row of rows) {
    const group = groups.get(row.deployment)
    if (group) group.push(row)
    else groups.set(row.deployment, [row])
  }
  return groups
}

/** Pod names are unique over all deployments. */
export async function findInstanceByPod(db: Db, podName: string): Promise<InstanceRow | undefined> {
  return db.selectFrom('instances').select(COLUMNS).where('pod_name', '=', podName).executeTakeFirst()
}

/**
 * @returns the capsule of an instance's last crash; undefined if there is no such instance, null if it never crashed
 */
export async function findCrash(db: Db, deployment: string, uid: string): Promise<CrashCapsule | null | undefined> {
  const row = await db
    .selectFrom('instances')
    .select('crash')
    .where('deployment', '=', deployment)
    .where('uid', '=', uid)
    .executeTakeFirst()
  return row?.crash
}

/** @returns the row with its defaults. @throws if the instance exists, or its deployment does not */
export async function insertInstance(
  db: Db,
  instance: Pick<InstanceRow, 'uid' | 'deployment' | 'name' | 'pod_name' | 'slot'>,
): Promise<InstanceRow> {
  return db.insertInto('instances').values(instance).returning(COLUMNS).executeTakeFirstOrThrow()
}

/** Does nothing if there is no such instance. */
export async function deleteInstance(db: Db, uid: string): Promise<void> {
  await db.deleteFrom('instances').where('uid', '=', uid).execute()
}

/** Sets the desired state: `running`, `stopped`, or `gone`, which is final. */
export async function setDesiredState(db: Db, uid: string, wanted: InstanceRow['wanted']): Promise<void> {
  await db.updateTable('instances').set({ wanted }).where('uid', '=', uid).execute()
}

export interface ExitRecord {
  runId: string
  crashes: number[]
  startAfter: Date | null
  blockedReason: string | null
  /** Whether it is blocked only until `startAfter`. Default: no. */
  blockLifts?: boolean
  exit: LastExit
  /** Only for a crash. */
  capsule: CrashCapsule | undefined
}

/** Records the end of a run. Does nothing if that end was recorded before. */
export async function setExit(
  db: Db,
  uid: string,
  { runId, crashes, startAfter, blockedReason, blockLifts = false, exit, capsule }: ExitRecord,
): Promise<void> {
  if (blockedReason !== null) await endRestart(db, uid)
  await db
    .updateTable('instances')
    .set({
      handled_run: runId,
      crashes: JSON.stringify(crashes),
      start_after: startAfter,
      blocked_reason: blockedReason,
      block_lifts: blockLifts,
      last_exit: JSON.stringify(exit),
      ...(capsule && { crash: JSON.stringify(capsule), crashed_at: new Date(exit.at) }),
      // Counts restarts only.
      ...(startAfter !== null && !blockLifts && { restarts: sql<number>`restarts + 1` }),
    })
    .where('uid', '=', uid)
    .where('handled_run', 'is distinct from', runId)
    .execute()
}

/** Blocks an instance until somebody starts it, and ends the restart of its deployment. Null unblocks it. */
export async function setBlocked(db: Db, uid: string, reason: string | null): Promise<void> {
  if (reason !== null) await endRestart(db, uid)
  await block(db, uid, reason, false)
}

/**
 * Blocks an instance until the reason is gone.
 * @param isOwn whether the reason concerns this instance only, such as a port that is taken: the others still restart
 */
export async function setWaiting(db: Db, uid: string, reason: string, isOwn: boolean): Promise<void> {
  if (!isOwn) await endRestart(db, uid)
  await block(db, uid, reason, true)
}

/** Sets or clears a block. Clearing it also clears the crashes. */
async function block(db: Db, uid: string, reason: string | null, lifts: boolean): Promise<void> {
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

/**
 * Ends the restart of an instance's deployment: what keeps one instance from starting, such as a broken program, would
 * keep the others from starting too. Call it before the reason is stored: the manager repeats the step until then.
 */
async function endRestart(db: Db, uid: string): Promise<void> {
  await db
    .updateTable('instances')
    .set({ restart_run: null })
    .where('deployment', '=', (query) => query.selectFrom('instances').select('deployment').where('uid', '=', uid))
    .where('restart_run', 'is not', null)
    .execute()
}

/**
 * Marks all instances of a deployment as wanted, except those to be removed, and clears their crashes, blocks, restarts
 * and drains.
 */
export async function resetInstances(db: Db, deployment: string): Promise<void> {
  await db
    .updateTable('instances')
    .set({
      wanted: 'running',
      blocked_reason: null,
      block_lifts: false,
      crashes: '[]',
      start_after: null,
      restart_run: null,
      drain_run: null,
      drain_then: null,
      drain_since: null,
    })
    .where('deployment', '=', deployment)
    .where('wanted', '!=', 'gone')
    .execute()
}

/** Records that the console of a run was informed of its late start. */
export async function setLateRun(db: Db, uid: string, runId: string): Promise<void> {
  await db.updateTable('instances').set({ late_run: runId }).where('uid', '=', uid).execute()
}

/** Requests the drain of a run; null ends it. Repeating the request for the same run keeps its start. */
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

/** Records when the drain command was sent. The timeout begins then. */
export async function setDrainSince(db: Db, uid: string, since: Date): Promise<void> {
  await db.updateTable('instances').set({ drain_since: since }).where('uid', '=', uid).execute()
}

/**
 * Stores what follows from a drain that was read before. Does nothing if a user has cancelled it since, or requested
 * another one.
 * @returns whether it was stored
 */
export async function updateDrained(
  db: Db,
  { uid, drain_run, drain_then, drain_since }: Pick<InstanceRow, 'uid' | 'drain_run' | 'drain_then' | 'drain_since'>,
  change: Partial<Pick<InstanceRow, 'wanted' | 'restart_run' | 'drain_run' | 'drain_then' | 'drain_since'>>,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('instances')
    .set(change)
    .where('uid', '=', uid)
    .where('drain_run', '=', drain_run)
    .where('drain_then', '=', drain_then)
    .where('drain_since', 'is not distinct from', drain_since)
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

/** Requests the replacement of a run. */
export async function setRestartRun(db: Db, uid: string, runId: string): Promise<void> {
  await db.updateTable('instances').set({ restart_run: runId }).where('uid', '=', uid).execute()
}

/** Ends the request to replace a run, unless the replacement of another one was requested since. */
export async function endRestartOf(
  db: Db,
  { uid, restart_run }: Pick<InstanceRow, 'uid' | 'restart_run'>,
): Promise<void> {
  await db
    .updateTable('instances')
    .set({ restart_run: null })
    .where('uid', '=', uid)
    .where('restart_run', '=', restart_run)
    .execute()
}
