import type { Db } from '../db'
import type { State } from '../schema'
import { keepNewest } from './newestRows'

/** The unused tickets of one session or API key. One more deletes the oldest. */
const MAX_TICKETS = 100

/** Stores a ticket. Deletes those of its session or key beyond MAX_TICKETS. */
export async function insertDownloadTicket(db: Db, ticket: State['download_tickets']): Promise<void> {
  for (const column of ['session_id', 'key_id'] as const) {
    const owner = ticket[column]
    if (owner !== null) await keepNewest(db, 'download_tickets', [column, owner], MAX_TICKETS - 1)
  }
  await db.insertInto('download_tickets').values(ticket).execute()
}

/**
 * Deletes and returns a ticket. Only one of concurrent calls gets it. The caller checks its expiry, path and
 * credential.
 */
export async function takeDownloadTicket(
  db: Db,
  tokenHash: string,
): Promise<{ path: string; expires_at: Date; sessionId?: string; key?: { id: string } } | undefined> {
  const ticket = await db
    .deleteFrom('download_tickets')
    .where('token_hash', '=', tokenHash)
    .returning(['path', 'expires_at', 'session_id', 'key_id'])
    .executeTakeFirst()
  if (!ticket) return undefined
  const { path, expires_at, session_id, key_id } = ticket
  return {
    path,
    expires_at,
    ...(session_id !== null && { sessionId: session_id }),
    ...(key_id !== null && { key: { id: key_id } }),
  }
}
