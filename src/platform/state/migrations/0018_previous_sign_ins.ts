import { sql, type Kysely } from 'kysely'

/** The last sign-in of each user and, with each session, the previous one. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable('users')
    .addColumn('last_sign_in_at', 'timestamptz')
    .addColumn('last_sign_in_address', 'text')
    .execute()
  await sql`
    update users set last_sign_in_at = latest.created_at, last_sign_in_address = latest.address
    from (select distinct on (user_id) user_id, created_at, address from sessions order by user_id, created_at desc) latest
    where latest.user_id = users.id
  `.execute(db)
  await db.schema
    .alterTable('sessions')
    .addColumn('previous_sign_in_at', 'timestamptz')
    .addColumn('previous_sign_in_address', 'text')
    .execute()
}
