import { sql } from 'kysely'
import type { MetricPoint } from '../../../contract/metric'
import type { Db } from '../db'

export type Metric = 'cpu' | 'memory'

export interface MetricRow {
  pod_name: string
  at: Date
  /** mCPU. */
  cpu: number
  /** KiB. */
  memory: number
}

/** Stores points. Ignores points that are stored already. */
export async function insertMetrics(db: Db, rows: MetricRow[]): Promise<void> {
  if (rows.length > 0)
    await db
      .insertInto('metrics')
      .values(rows)
      .onConflict((conflict) => conflict.doNothing())
      .execute()
}

/** Oldest first. @param seconds the period before `until` */
export async function listMetrics(
  db: Db,
  podName: string,
  metric: Metric,
  seconds: number,
  until = new Date(),
): Promise<MetricPoint[]> {
  const rows = await db
    .selectFrom('metrics')
    .select(['at', `${metric} as value`])
    .where('pod_name', '=', podName)
    .where('at', '>', new Date(until.getTime() - seconds * 1000))
    .where('at', '<=', until)
    .orderBy('at')
    .execute()
  return rows.map(({ at, value }) => ({ timestamp: at.getTime(), value }))
}

/** Deletes points older than this period, by the database’s clock. */
export async function dropOldMetrics(db: Db, seconds: number): Promise<void> {
  await db
    .deleteFrom('metrics')
    .where('at', '<', sql<Date>`now() - make_interval(secs => ${seconds})`)
    .execute()
}
