import type { Kysely } from 'kysely'

/** Why an action failed: an error code, which is no secret, unlike the text of some failures. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable('activity')
    // Null: a success, or of an earlier version.
    .addColumn('failure', 'text')
    .execute()
}
