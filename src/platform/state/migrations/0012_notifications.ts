import type { Kysely } from 'kysely'

/** Notifications between replicas of the platform: one row per topic, whose version grows with each notification. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('notifications')
    .addColumn('topic', 'text', (column) => column.primaryKey())
    .addColumn('version', 'bigint', (column) => column.notNull())
    .addColumn('data', 'text')
    .execute()
}
