import type { UserAccess } from '../../contract/access'
import type { InviteCode } from '../../contract/admin'
import { AppError } from '../errors'
import type { Db } from '../state/db'
import { lockDeploymentsOf } from '../state/accounts/access'
import {
  deleteInvite,
  findInvite,
  insertInvite,
  listInvites,
  lockInviteGrants,
  revokeInvite,
  type InviteRow,
} from '../state/accounts/invites'
import { findApiKeys } from '../state/accounts/apiKeys'
import { lockSession } from '../state/accounts/sessions'
import { lockAdmins } from '../state/accounts/users'
import type { Caller } from '../caller'
import { INVITE_DAYS, newInviteCode } from './registration'
import { noSession } from './sessions'
import { noAdministrator, requireDeployments, withView } from './users'

export interface Invites {
  /** Newest first. */
  list(): Promise<InviteCode[]>
  /**
   * Creates a code that is valid for one registration within 7 days, while its maker is an administrator.
   * @param access what its user gets; default: an operator
   * @throws AppError NOT_ALLOWED if `by` was demoted, NO_SESSION if their session or key has ended, INVALID_INPUT for a
   * deployment that does not exist
   */
  create(by: Caller, message: string, access?: UserAccess): Promise<InviteCode>
  /**
   * Revokes an unused code, which stays in the list; deletes others.
   * @param isRevocation for a caller who saw an unused code: nothing is deleted
   * @returns the invite. @throws AppError NOT_FOUND; CONFLICT for a revocation of a code that has been used
   */
  remove(code: string, how?: { isRevocation: boolean }): Promise<InviteCode>
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
    async create(by, message, wanted) {
      const access = wanted && withView(wanted)
      const invite = await db.transaction().execute(async (transaction) => {
        // A concurrent demotion of the maker waits for this lock, and then revokes this invite too.
        if (!(await lockAdmins(transaction)).has(by.userId)) throw noAdministrator()
        // A password reset that ends the maker's access waits too, and then revokes their invites.
        if (!(await isValid(transaction, by))) throw noSession()
        await lockInviteGrants(transaction)
        if (access) requireDeployments(access, await lockDeploymentsOf(transaction, access.grants))
        return insertInvite(transaction, {
          code: newInviteCode(),
          message,
          expires_at: new Date(now() + INVITE_DAYS * 86_400_000),
          access: access ? JSON.stringify(access) : null,
          made_by: by.userId,
        })
      })
      return toInviteCode(invite)
    },
    async remove(code, { isRevocation } = { isRevocation: false }) {
      const remove = isRevocation ? findInvite : deleteInvite
      const invite = (await revokeInvite(db, code)) ?? (await remove(db, code))
      if (!invite) throw new AppError('NOT_FOUND', 'This invite code does not exist. It may have been deleted.')
      if (isRevocation && invite.used_by !== null)
        throw new AppError('CONFLICT', `"${invite.used_by}" has registered with this code.`)
      return toInviteCode(invite)
    },
  }
}

/** Whether the session or API key of a call is still there. */
async function isValid(transaction: Db, { userId, sessionId, key }: Caller): Promise<boolean> {
  if (sessionId !== undefined) return lockSession(transaction, { userId, sessionId })
  return key !== undefined && (await findApiKeys(transaction, [key.id])).length > 0
}
