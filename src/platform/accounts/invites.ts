import type { InviteCode } from '../../contract/admin'
import { AppError } from '../errors'
import type { Db } from '../state/db'
import { deleteInvite, insertInvite, listInvites, revokeInvite, type InviteRow } from '../state/invites'
import { INVITE_DAYS, newInviteCode } from './registration'

export interface Invites {
  /** Newest first. */
  list(): Promise<InviteCode[]>
  /** Makes a code that one person can register with within 7 days. */
  create(message: string): Promise<InviteCode>
  /**
   * Revokes a code that could still be used: it stays in the list. One that is used, revoked or expired is taken off it.
   * @returns what it was. @throws AppError NOT_FOUND
   */
  remove(code: string): Promise<InviteCode>
}

/** @param now milliseconds since the epoch. */
export function createInvites(db: Db, now: () => number): Invites {
  /** One that was used in time does not expire. */
  const asSeen = ({ code, message, created_at, expires_at, used_by, revoked }: InviteRow): InviteCode => ({
    code,
    message,
    created_at: created_at.toISOString(),
    used_by,
    revoked,
    is_expired: used_by === null && expires_at.getTime() <= now(),
    expires_at: expires_at.toISOString(),
  })
  return {
    list: async () => (await listInvites(db)).map(asSeen),
    create: async (message) =>
      asSeen(
        await insertInvite(db, {
          code: newInviteCode(),
          message,
          expires_at: new Date(now() + INVITE_DAYS * 86_400_000),
        }),
      ),
    async remove(code) {
      const invite = (await revokeInvite(db, code)) ?? (await deleteInvite(db, code))
      if (!invite)
        throw new AppError('NOT_FOUND', 'There is no such invite code. Somebody may have deleted it meanwhile.')
      return asSeen(invite)
    },
  }
}
