import { sql, type Insertable } from 'kysely'
import { ACTIVITY_PAGE, type ActivityEntry, type ActivityQuery } from '../../../contract/admin'
import type { Db } from '../db'
import type { State } from '../schema'

export type NewActivity = Insertable<State['activity']>

/** An activity without its time and UUID, which are added when it is recorded. */
export type ActivityRecord = Omit<NewActivity, 'at' | 'entry'>

/** Skips entries that an earlier call has written although its response was lost. */
export async function insertActivity(db: Db, entries: NewActivity[]): Promise<void> {
  await db
    .insertInto('activity')
    .values(entries)
    .onConflict((conflict) => conflict.column('entry').doNothing())
    .execute()
}

/** One page, newest first. `since` replaces the `hours` of the query. Wildcards of `like` in `search` are escaped. */
export async function listActivity(
  db: Db,
  { before, kind, username, search, since }: Omit<ActivityQuery, 'hours'> & { since?: Date | undefined },
): Promise<{ entries: ActivityEntry[]; hasMore: boolean }> {
  let query = db
    .selectFrom('activity')
    .select(['id', 'at', 'username', 'kind', 'action', 'subject', 'address', 'succeeded', 'api_key', 'failure'])
    .orderBy('id', 'desc')
    .limit(ACTIVITY_PAGE + 1)
  if (before !== undefined) query = query.where('id', '<', String(before))
  if (username !== undefined) query = query.where('username', '=', username)
  if (since !== undefined) query = query.where('at', '>=', since)
  if (kind !== undefined) query = query.where('kind', '=', kind)
  if (search !== undefined && search !== '') {
    const pattern = `%${search.replaceAll(/[\\%_]/g, '\\$&')}%`
    query = query.where((where) =>
      where.or(
        (['username', 'action', 'subject', 'address', 'api_key'] as const).map((column) =>
          where(column, 'ilike', pattern),
        ),
      ),
    )
  }
  const rows = await query.execute()
  const entries = rows.slice(0, ACTIVITY_PAGE).map(({ id, at, api_key, failure, ...row }) => ({
    ...row,
    id: Number(id),
    at: at.getTime(),
    ...(api_key !== null && { api_key }),
    ...(failure !== null && { failure }),
  }))
  return { entries, hasMore: rows.length > ACTIVITY_PAGE }
}

/** Deletes entries older than 90 days. A trigger of the database refuses to delete newer ones. */
export async function dropOldActivity(db: Db): Promise<void> {
  await db
    .deleteFrom('activity')
    .where('at', '<', sql<Date>`now() - interval '90 days'`)
    .execute()
}
