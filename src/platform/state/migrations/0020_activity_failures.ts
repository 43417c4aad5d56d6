import type { Kysely } from 'kysely'

/** Why an action failed: an error code which, unlike some error texts, contains no secret. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable('activity')
    // Null for a success, or an entry of an earlier version.
    .addColumn('failure', 'text')
    .execute()
}
