import type { Kysely } from 'kysely'

/**
 * What an entry of the activity log is known by before it has its number: it is written once, however often it is sent.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable('activity')
    // Null: of an earlier version.
    .addColumn('entry', 'uuid', (column) => column.unique())
    .execute()
}
