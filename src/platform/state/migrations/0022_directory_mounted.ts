import type { Kysely } from 'kysely'

/** Whether the directory of a deployment was a mount within the shared area when it was last seen. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable('deployments')
    .addColumn('directory_mounted', 'boolean', (column) => column.notNull().defaultTo(false))
    .execute()
}
