import { sql, type Kysely } from 'kysely'

/** Which directories of `mounts` of a deployment were mounts within the shared area when they were last seen. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable('deployments')
    .addColumn('mounts_mounted', sql`text[]`, (column) => column.notNull().defaultTo(sql`'{}'`))
    .execute()
}
