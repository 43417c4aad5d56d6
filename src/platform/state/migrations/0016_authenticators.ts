import { sql, type Kysely } from 'kysely'

/** Several authenticators per user, passkeys, recovery codes, and challenges, which any replica may check. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('authenticators')
    .addColumn('id', 'uuid', (column) => column.primaryKey().defaultTo(sql`gen_random_uuid()`))
    .addColumn('user_id', 'integer', (column) => column.notNull().references('users.id').onDelete('cascade'))
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('secret', 'text', (column) => column.notNull())
    // The time step of the last accepted code, for replay protection.
    .addColumn('last_step', 'integer', (column) => column.notNull())
    .addColumn('created_at', 'timestamptz', (column) => column.notNull().defaultTo(sql`now()`))
    .addColumn('last_used_at', 'timestamptz')
    .execute()
  await db.schema.createIndex('authenticators_user').on('authenticators').column('user_id').execute()
  await sql`
    insert into authenticators (user_id, name, secret, last_step, created_at)
    select id, 'Authenticator app', totp_secret, totp_last_step, created_at from users`.execute(db)
  // The columns stay for replicas of the previous version, which still read them during a rolling update. Nothing else
  // reads or writes them, so new users have none; a database that an unreleased version migrated lacks them.
  await sql`
    alter table users alter column totp_secret drop not null, alter column totp_last_step drop not null`.execute(db)

  await db.schema
    .createTable('passkeys')
    .addColumn('id', 'uuid', (column) => column.primaryKey())
    .addColumn('user_id', 'integer', (column) => column.notNull().references('users.id').onDelete('cascade'))
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('credential_id', 'text', (column) => column.notNull().unique())
    .addColumn('public_key', 'bytea', (column) => column.notNull())
    .addColumn('counter', 'bigint', (column) => column.notNull())
    .addColumn('transports', sql`text[]`, (column) => column.notNull())
    .addColumn('rp_id', 'text', (column) => column.notNull())
    .addColumn('created_at', 'timestamptz', (column) => column.notNull().defaultTo(sql`now()`))
    .addColumn('last_used_at', 'timestamptz')
    .execute()
  await db.schema.createIndex('passkeys_user').on('passkeys').column('user_id').execute()

  // The unused codes; a used one is deleted.
  await db.schema
    .createTable('recovery_codes')
    .addColumn('user_id', 'integer', (column) => column.notNull().references('users.id').onDelete('cascade'))
    .addColumn('code_hash', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('recovery_codes_pkey', ['user_id', 'code_hash'])
    .execute()

  // A challenge is deleted with its user, session or login step.
  await db.schema
    .createTable('challenges')
    .addColumn('hash', 'text', (column) => column.primaryKey())
    .addColumn('purpose', 'text', (column) => column.notNull())
    .addColumn('user_id', 'integer', (column) => column.references('users.id').onDelete('cascade'))
    .addColumn('session_id', 'uuid', (column) => column.references('sessions.id').onDelete('cascade'))
    .addColumn('step_hash', 'text', (column) => column.references('login_steps.token_hash').onDelete('cascade'))
    .addColumn('secret', 'text')
    .addColumn('tries', 'integer', (column) => column.notNull().defaultTo(0))
    .addColumn('expires_at', 'timestamptz', (column) => column.notNull())
    .execute()
}
