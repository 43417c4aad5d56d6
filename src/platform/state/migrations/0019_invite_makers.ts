import type { Kysely } from 'kysely'

/** The administrator who created an invite, which is revoked when they are demoted. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable('invites')
    // Null for invites of earlier versions or of the platform itself.
    .addColumn('made_by', 'integer', (column) => column.references('users.id').onDelete('set null'))
    .execute()
}
