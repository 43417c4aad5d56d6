import type { Db } from '../db'

export async function insertDownloadTicket(
  db: Db,
  ticket: { token_hash: string; session_id: string; path: string; expires_at: Date },
): Promise<void> {
  await db.insertInto('download_tickets').values(ticket).execute()
}

/** Deletes and returns a ticket. Of concurrent calls, one gets it. The caller checks its expiry and path. */
export async function takeDownloadTicket(
  db: Db,
  tokenHash: string,
): Promise<{ path: string; expires_at: Date; username: string } | undefined> {
  return db
    .deleteFrom('download_tickets')
    .using(['sessions', 'users'])
    .whereRef('sessions.id', '=', 'download_tickets.session_id')
    .whereRef('users.id', '=', 'sessions.user_id')
    .where('token_hash', '=', tokenHash)
    .returning(['download_tickets.path', 'download_tickets.expires_at', 'users.username'])
    .executeTakeFirst()
}
