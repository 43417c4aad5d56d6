import { sql, type Kysely } from 'kysely'

/** Limited users with their grants, API keys, and what an invite gives. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // The role is `administrator`, `limited` or, without both flags, `operator`.
  await db.schema
    .alterTable('users')
    .addColumn('is_limited', 'boolean', (column) => column.notNull().defaultTo(false))
    .execute()
  await sql`alter table users add constraint users_one_role check (not (is_admin and is_limited))`.execute(db)
  await db.schema
    .createTable('grants')
    .addColumn('user_id', 'integer', (column) => column.notNull().references('users.id').onDelete('cascade'))
    // Deleted with the deployment, so that a later deployment of the same name begins without grants.
    .addColumn('deployment', 'text', (column) => column.notNull().references('deployments.name').onDelete('cascade'))
    .addColumn('rights', sql`text[]`, (column) => column.notNull())
    .addPrimaryKeyConstraint('grants_pkey', ['user_id', 'deployment'])
    .execute()
  await db.schema.createIndex('grants_deployment').on('grants').column('deployment').execute()

  // The role and grants of the user who registers with it, as a UserAccess. Null: an operator.
  await db.schema.alterTable('invites').addColumn('access', 'jsonb').execute()

  await db.schema
    .createTable('api_keys')
    .addColumn('id', 'uuid', (column) => column.primaryKey())
    .addColumn('user_id', 'integer', (column) => column.notNull().references('users.id').onDelete('cascade'))
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('prefix', 'text', (column) => column.notNull())
    // SHA-256: a key has 40 random characters, which nobody can guess from its hash.
    .addColumn('key_hash', 'text', (column) => column.notNull().unique())
    .addColumn('scopes', sql`text[]`, (column) => column.notNull())
    .addColumn('all_deployments', 'boolean', (column) => column.notNull())
    .addColumn('created_at', 'timestamptz', (column) => column.notNull().defaultTo(sql`now()`))
    .addColumn('expires_at', 'timestamptz')
    .addColumn('last_used_at', 'timestamptz')
    // The calls since the begin of the present window, for the limit of calls.
    .addColumn('window_start', 'timestamptz', (column) => column.notNull().defaultTo(sql`now()`))
    .addColumn('window_calls', 'integer', (column) => column.notNull().defaultTo(0))
    // Leaves room for new versions of a row on the same page, because each call changes the row.
    .modifyEnd(sql`with (fillfactor = 50)`)
    .execute()
  await db.schema.createIndex('api_keys_user').on('api_keys').column('user_id').execute()
  await db.schema
    .createTable('api_key_deployments')
    .addColumn('key_id', 'uuid', (column) => column.notNull().references('api_keys.id').onDelete('cascade'))
    .addColumn('deployment', 'text', (column) => column.notNull().references('deployments.name').onDelete('cascade'))
    .addPrimaryKeyConstraint('api_key_deployments_pkey', ['key_id', 'deployment'])
    .execute()
  await db.schema.createIndex('api_key_deployments_deployment').on('api_key_deployments').column('deployment').execute()

  // A ticket belongs to the session or to the key that requested it.
  await sql`alter table download_tickets alter column session_id drop not null`.execute(db)
  await db.schema
    .alterTable('download_tickets')
    .addColumn('key_id', 'uuid', (column) => column.references('api_keys.id').onDelete('cascade'))
    .execute()

  // The name of the API key of a call. Null for a session.
  await db.schema.alterTable('activity').addColumn('api_key', 'text').execute()
}
