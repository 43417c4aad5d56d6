import type { UserAccess } from '../../contract/access'
import type { InviteCode } from '../../contract/admin'
import { AppError } from '../errors'
import type { Db } from '../state/db'
import { deleteInvite, insertInvite, listInvites, revokeInvite, type InviteRow } from '../state/accounts/invites'
import { INVITE_DAYS, newInviteCode } from './registration'
import { withView } from './users'

export interface Invites {
  /** Newest first. */
  list(): Promise<InviteCode[]>
  /** Creates a code that is valid for one registration within 7 days. @param access what its user gets; default: an operator */
  create(message: string, access?: UserAccess): Promise<InviteCode>
  /** Revokes a valid code, which stays in the list; deletes others. @returns the invite. @throws AppError NOT_FOUND */
  remove(code: string): Promise<InviteCode>
}

/** @param now milliseconds since the epoch */
export function createInvites(db: Db, now: () => number): Invites {
  /** A used invite does not expire. */
  const toInviteCode = ({
    code,
    message,
    created_at,
    expires_at,
    used_by,
    revoked,
    access,
  }: InviteRow): InviteCode => ({
    code,
    message,
    created_at: created_at.toISOString(),
    used_by,
    revoked,
    is_expired: used_by === null && expires_at.getTime() <= now(),
    expires_at: expires_at.toISOString(),
    ...(access && access),
  })
  return {
    list: async () => (await listInvites(db)).map(toInviteCode),
    create: async (message, access) =>
      toInviteCode(
        await insertInvite(db, {
          code: newInviteCode(),
          message,
          expires_at: new Date(now() + INVITE_DAYS * 86_400_000),
          access: access ? JSON.stringify(withView(access)) : null,
        }),
      ),
    async remove(code) {
      const invite = (await revokeInvite(db, code)) ?? (await deleteInvite(db, code))
      if (!invite) throw new AppError('NOT_FOUND', 'This invite code does not exist. It may have been deleted.')
      return toInviteCode(invite)
    },
  }
}
