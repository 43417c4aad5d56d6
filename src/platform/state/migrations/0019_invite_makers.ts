import type { Kysely } from 'kysely'

/** Who made an invite: it ends when they are no administrator any more. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable('invites')
    // Null: of an earlier version, or of the platform itself.
    .addColumn('made_by', 'integer', (column) => column.references('users.id').onDelete('set null'))
    .execute()
}
