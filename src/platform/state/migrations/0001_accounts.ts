import { sql, type Kysely } from 'kysely'

/** Users, invites, sessions, and the state between the calls of signing in and registering. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('users')
    .addColumn('id', 'integer', (column) => column.primaryKey().generatedAlwaysAsIdentity())
    .addColumn('username', 'text', (column) => column.notNull())
    .addColumn('password_hash', 'text', (column) => column.notNull())
    .addColumn('totp_secret', 'text', (column) => column.notNull())
    // The time step of the last accepted code. A code of this step or an earlier one is refused (RFC 6238 §5.2).
    .addColumn('totp_last_step', 'integer', (column) => column.notNull())
    .addColumn('is_admin', 'boolean', (column) => column.notNull())
    .addColumn('created_at', 'timestamptz', (column) => column.notNull().defaultTo(sql`now()`))
    .execute()
  await sql`create unique index users_username on users (lower(username))`.execute(db)

  await db.schema
    .createTable('invites')
    .addColumn('code', 'text', (column) => column.primaryKey())
    .addColumn('message', 'text', (column) => column.notNull())
    // The invite that the platform prints while there are no users. Its user becomes administrator.
    .addColumn('is_first', 'boolean', (column) => column.notNull().defaultTo(false))
    .addColumn('created_at', 'timestamptz', (column) => column.notNull().defaultTo(sql`now()`))
    .addColumn('expires_at', 'timestamptz', (column) => column.notNull())
    .addColumn('used_by', 'text')
    .addColumn('revoked', 'boolean', (column) => column.notNull().defaultTo(false))
    .execute()

  await db.schema
    .createTable('sessions')
    .addColumn('id', 'uuid', (column) => column.primaryKey())
    .addColumn('user_id', 'integer', (column) => column.notNull().references('users.id').onDelete('cascade'))
    .addColumn('created_at', 'timestamptz', (column) => column.notNull().defaultTo(sql`now()`))
    .addColumn('expires_at', 'timestamptz', (column) => column.notNull())
    .addColumn('last_used_at', 'timestamptz', (column) => column.notNull().defaultTo(sql`now()`))
    .addColumn('device', 'text', (column) => column.notNull())
    .addColumn('address', 'text', (column) => column.notNull())
    .execute()
  await db.schema.createIndex('sessions_user').on('sessions').column('user_id').execute()

  // State between the two calls of signing in. All tokens are stored as SHA-256 hashes.
  await db.schema
    .createTable('login_steps')
    .addColumn('token_hash', 'text', (column) => column.primaryKey())
    .addColumn('user_id', 'integer', (column) => column.notNull().references('users.id').onDelete('cascade'))
    .addColumn('expires_at', 'timestamptz', (column) => column.notNull())
    .addColumn('tries', 'integer', (column) => column.notNull().defaultTo(0))
    .execute()

  // State between the three calls of registering. The second call fills the last three columns.
  await db.schema
    .createTable('registrations')
    .addColumn('token_hash', 'text', (column) => column.primaryKey())
    .addColumn('invite_code', 'text', (column) => column.notNull().references('invites.code').onDelete('cascade'))
    .addColumn('expires_at', 'timestamptz', (column) => column.notNull())
    .addColumn('tries', 'integer', (column) => column.notNull().defaultTo(0))
    .addColumn('username', 'text')
    .addColumn('password_hash', 'text')
    .addColumn('totp_secret', 'text')
    .execute()

  await db.schema
    .createTable('tries')
    .addColumn('key', 'text', (column) => column.primaryKey())
    .addColumn('count', 'integer', (column) => column.notNull())
    .addColumn('resets_at', 'timestamptz', (column) => column.notNull())
    .execute()

  await db.schema
    .createTable('facts')
    .addColumn('name', 'text', (column) => column.primaryKey())
    .addColumn('value', 'text', (column) => column.notNull())
    .execute()
}
