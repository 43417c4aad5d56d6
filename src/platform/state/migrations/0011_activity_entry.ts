import type { Kysely } from 'kysely'

/** An idempotency key for entries of the activity log: an entry that is sent several times is written once. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable('activity')
    // Null for entries of earlier versions.
    .addColumn('entry', 'uuid', (column) => column.unique())
    .execute()
}
