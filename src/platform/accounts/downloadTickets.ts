import { AppError } from '../errors'
import { isMissingReference, type Db } from '../state/db'
import { insertDownloadTicket, takeDownloadTicket } from '../state/accounts/downloadTickets'
import { hashToken, randomToken } from '../state/secrets'
import type { Callers } from './callers'
import { credentialOf, type Caller } from '../caller'
import { noSession } from './sessions'

/** The validity of a ticket (decisions §2). */
const VALID_MS = 60_000

/** Replaces the session in a download's URL. A ticket is valid for one use, one path and 60 s. */
export interface DownloadTickets {
  /** @throws AppError NO_SESSION if the session has ended */
  issue(by: Caller, path: string): Promise<string>
  /**
   * @returns the caller that the ticket was issued to, with their present rights.
   * @throws AppError NO_SESSION if the token is no valid ticket for this path
   */
  take(token: string, path: string): Promise<Caller>
}

/** @param now milliseconds since the epoch */
export function createDownloadTickets(db: Db, callers: Pick<Callers, 'find'>, now: () => number): DownloadTickets {
  return {
    async issue({ sessionId = null, key }, path) {
      const token = randomToken()
      await insertDownloadTicket(db, {
        token_hash: hashToken(token),
        session_id: sessionId,
        key_id: key?.id ?? null,
        path,
        expires_at: new Date(now() + VALID_MS),
      }).catch((error: unknown) => {
        throw isMissingReference(error) ? noSession() : error
      })
      return token
    },
    async take(token, path) {
      const ticket = await takeDownloadTicket(db, hashToken(token))
      const isValid = ticket?.path === path && ticket.expires_at.getTime() > now()
      const credential = ticket && credentialOf(ticket)
      const caller = isValid && credential ? (await callers.find([credential])).get(credential) : undefined
      if (!caller)
        throw new AppError(
          'NO_SESSION',
          'This download link has been used or has expired. Please start the download again.',
        )
      return caller
    },
  }
}
