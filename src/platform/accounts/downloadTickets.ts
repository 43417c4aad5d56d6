import { AppError } from '../errors'
import { isMissingReference, type Db } from '../state/db'
import { insertDownloadTicket, takeDownloadTicket } from '../state/accounts/downloadTickets'
import { hashToken, randomToken } from '../state/secrets'
import type { SessionUser } from '../state/accounts/sessions'
import { noSession } from './sessions'

/** Decisions §2. */
const VALID_MS = 60_000

/** Replaces the session in a download's URL. A ticket is valid for one use, one path and 60 s. */
export interface DownloadTickets {
  /** @throws AppError NO_SESSION if the session has ended meanwhile */
  issue(user: SessionUser, path: string): Promise<string>
  /** @returns the ticket's user. @throws AppError NO_SESSION if the token is no valid ticket for this path */
  take(token: string, path: string): Promise<{ username: string }>
}

/** @param now milliseconds since the epoch */
export function createDownloadTickets(db: Db, now: () => number): DownloadTickets {
  return {
    async issue({ sessionId }, path) {
      const token = randomToken()
      await insertDownloadTicket(db, {
        token_hash: hashToken(token),
        session_id: sessionId,
        path,
        expires_at: new Date(now() + VALID_MS),
      }).catch((error: unknown) => {
        throw isMissingReference(error) ? noSession() : error
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
