import { sql, type Kysely } from 'kysely'

/** Service accounts for the Kubernetes dashboard, noted before the cluster is touched, so that none is ever forgotten there. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('dashboard_accounts')
    .addColumn('service_account', 'text', (column) => column.primaryKey())
    // Null once the user is gone: then the account is to be removed from the cluster.
    .addColumn('user_id', 'integer', (column) => column.unique().references('users.id').onDelete('set null'))
    // Sealed (see secrets.ts). Null until the cluster has issued it.
    .addColumn('token', 'text')
    .addColumn('expires_at', 'timestamptz')
    .addColumn('created_at', 'timestamptz', (column) => column.notNull().defaultTo(sql`now()`))
    .execute()
}
