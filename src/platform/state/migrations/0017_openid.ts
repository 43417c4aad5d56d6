import { sql, type Kysely } from 'kysely'

/** Users who sign in by OpenID Connect, and sign-ins in progress. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // An account that was created by OpenID Connect has no password.
  await sql`alter table users alter column password_hash drop not null`.execute(db)
  await db.schema
    .createTable('openid_identities')
    .addColumn('issuer', 'text', (column) => column.notNull())
    .addColumn('subject', 'text', (column) => column.notNull())
    .addColumn('user_id', 'integer', (column) => column.notNull().unique().references('users.id').onDelete('cascade'))
    // Whether a sign-in with this identity created the account. Otherwise its owner connected it.
    .addColumn('made_account', 'boolean', (column) => column.notNull())
    .addPrimaryKeyConstraint('openid_identities_pkey', ['issuer', 'subject'])
    .execute()
  await db.schema
    .createTable('openid_steps')
    .addColumn('state_hash', 'text', (column) => column.primaryKey())
    .addColumn('browser_hash', 'text', (column) => column.notNull())
    .addColumn('nonce', 'text', (column) => column.notNull())
    .addColumn('verifier', 'text', (column) => column.notNull())
    .addColumn('redirect_uri', 'text', (column) => column.notNull())
    // The path and query to open afterwards.
    .addColumn('origin', 'text', (column) => column.notNull())
    // The session that connects its user's account. Null: a sign-in.
    .addColumn('session_id', 'uuid', (column) => column.references('sessions.id').onDelete('cascade'))
    .addColumn('expires_at', 'timestamptz', (column) => column.notNull())
    .execute()
}
