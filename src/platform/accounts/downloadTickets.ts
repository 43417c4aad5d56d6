import { AppError } from '../errors'
import type { Db } from '../state/db'
import { insertDownloadTicket, takeDownloadTicket } from '../state/downloadTickets'
import { hashToken, randomToken } from '../state/secrets'
import type { SessionUser } from '../state/sessions'

/** In milliseconds (decisions §2). */
const VALID_MS = 60_000

/** What stands in a download's address in place of the session: good for one use, 60 s and one path. */
export interface DownloadTickets {
  issue(user: SessionUser, path: string): Promise<string>
  /** @returns whose ticket it was. @throws AppError NO_SESSION for every token that is not a valid ticket for this path */
  take(token: string, path: string): Promise<{ username: string }>
}

/** @param now milliseconds since the epoch. */
export function createDownloadTickets(db: Db, now: () => number): DownloadTickets {
  return {
    async issue({ sessionId }, path) {
      const token = randomToken()
      await insertDownloadTicket(db, {
        token_hash: hashToken(token),
        session_id: sessionId,
        path,
        expires_at: new Date(now() + VALID_MS),
      })
      return token
    },
    async take(token, path) {
      const ticket = await takeDownloadTicket(db, hashToken(token))
      if (ticket?.path !== path || ticket.expires_at.getTime() <= now()) {
        throw new AppError(
          'NO_SESSION',
          'This download link has been used or has expired. Please start the download again.',
        )
      }
      return { username: ticket.username }
    },
  }
}
