import type { Kysely } from 'kysely'

/** Which directory of a deployment was there already. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // As its definition names it; null: none was seen yet. One that was seen is never made again by the platform.
  await db.schema.alterTable('deployments').addColumn('directory_seen', 'text').execute()
}
