import type { InviteCode } from '../../contract/admin'
import { AppError } from '../errors'
import type { Db } from '../state/db'
import { deleteInvite, insertInvite, listInvites, revokeInvite, type InviteRow } from '../state/accounts/invites'
import { INVITE_DAYS, newInviteCode } from './registration'

export interface Invites {
  /** Newest first. */
  list(): Promise<InviteCode[]>
  /** Creates a code that is valid for one registration within 7 days. */
  create(message: string): Promise<InviteCode>
  /** Revokes a valid code, which stays in the list; deletes others. @returns the invite. @throws AppError NOT_FOUND */
  remove(code: string): Promise<InviteCode>
}

/** @param now milliseconds since the epoch */
export function createInvites(db: Db, now: () => number): Invites {
  /** A used invite does not expire. */
  const toInviteCode = ({ code, message, created_at, expires_at, used_by, revoked }: InviteRow): InviteCode => ({
    code,
    message,
    created_at: created_at.toISOString(),
    used_by,
    revoked,
    is_expired: used_by === null && expires_at.getTime() <= now(),
    expires_at: expires_at.toISOString(),
  })
  return {
    list: async () => (await listInvites(db)).map(toInviteCode),
    create: async (message) =>
      toInviteCode(
        await insertInvite(db, {
          code: newInviteCode(),
          message,
          expires_at: new Date(now() + INVITE_DAYS * 86_400_000),
        }),
      ),
    async remove(code) {
      const invite = (await revokeInvite(db, code)) ?? (await deleteInvite(db, code))
      if (!invite) throw new AppError('NOT_FOUND', 'This invite code does not exist. It may have been deleted.')
      return toInviteCode(invite)
    },
  }
}
