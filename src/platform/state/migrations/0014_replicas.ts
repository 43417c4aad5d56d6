import type { Kysely } from 'kysely'

/** The running replicas of the platform, with the jobs and the unfinished files of each in the shared area. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('replicas')
    .addColumn('id', 'uuid', (column) => column.primaryKey())
    .addColumn('seen_at', 'timestamptz', (column) => column.notNull())
    .execute()
  await db.schema
    .createTable('temporaries')
    .addColumn('id', 'uuid', (column) => column.primaryKey())
    // No foreign key, because this row outlives the replica's row.
    .addColumn('replica', 'uuid', (column) => column.notNull())
    .addColumn('path', 'text', (column) => column.notNull())
    .execute()
  await db.schema
    .createTable('file_jobs')
    .addColumn('id', 'uuid', (column) => column.primaryKey())
    .addColumn('replica', 'uuid', (column) => column.notNull())
    .addColumn('user_id', 'integer', (column) => column.notNull())
    .addColumn('job', 'text', (column) => column.notNull())
    .addColumn('is_cancelled', 'boolean', (column) => column.notNull().defaultTo(false))
    .execute()
}
