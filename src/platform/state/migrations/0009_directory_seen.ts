import type { Kysely } from 'kysely'

/** The directory that a deployment had before. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // The path in its definition; null if none was seen yet. The platform never recreates a directory that was seen.
  await db.schema.alterTable('deployments').addColumn('directory_seen', 'text').execute()
}
