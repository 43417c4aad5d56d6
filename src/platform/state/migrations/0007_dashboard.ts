import { sql, type Kysely } from 'kysely'

/** Service accounts for the Kubernetes dashboard, stored before they are created, so that none is left behind. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('dashboard_accounts')
    .addColumn('service_account', 'text', (column) => column.primaryKey())
    // Null after the user was deleted. The account is then removed from the cluster.
    .addColumn('user_id', 'integer', (column) => column.unique().references('users.id').onDelete('set null'))
    // Sealed (see secrets.ts). Null until the cluster has issued it.
    .addColumn('token', 'text')
    .addColumn('expires_at', 'timestamptz')
    .addColumn('created_at', 'timestamptz', (column) => column.notNull().defaultTo(sql`now()`))
    .execute()
}
