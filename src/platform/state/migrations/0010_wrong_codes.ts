import type { Kysely } from 'kysely'

/** Wrong one-time codes of a user since the last sign-in. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('wrong_codes')
    .addColumn('user_id', 'integer', (column) => column.primaryKey().references('users.id').onDelete('cascade'))
    .addColumn('count', 'integer', (column) => column.notNull())
    .addColumn('first_at', 'timestamptz', (column) => column.notNull())
    // Codes are refused unverified until then. Null: no wait.
    .addColumn('blocked_until', 'timestamptz')
    .execute()
}
