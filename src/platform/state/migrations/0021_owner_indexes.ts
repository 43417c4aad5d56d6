import type { Kysely } from 'kysely'

/** Indexes for the limits per owner, which also speed up the deletion of a session, a key or a user. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const [table, column] of [
    ['challenges', 'user_id'],
    ['challenges', 'session_id'],
    ['download_tickets', 'session_id'],
    ['download_tickets', 'key_id'],
  ] as const)
    await db.schema.createIndex(`${table}_${column}`).on(table).column(column).execute()
}
