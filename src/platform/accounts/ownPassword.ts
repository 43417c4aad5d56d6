import type { ChangePassword } from '../../contract/signIn/auth'
import { AppError } from '../errors'
import type { Db } from '../state/db'
import type { SessionUser } from '../state/accounts/sessions'
import { findUser, replacePassword, type UserRow } from '../state/accounts/users'
import type { CodeChecks } from './codeChecks'
import { clearAttempts, rateLimits, takeAttempt } from './rateLimits'
import { hashPassword, isPassword } from './passwords'

export interface OwnPassword {
  /**
   * Changes the user's password and ends all of their other sessions.
   * @param address the client's, for the activity log
   * @throws AppError BAD_CREDENTIALS for a wrong old password, INVALID_CODE, TOO_MANY_TRIES per account, CONFLICT if an
   * administrator reset it during the call, or the account has no password
   */
  change(by: SessionUser, change: ChangePassword, address: string): Promise<void>
}

/**
 * Verifies the password of a signed-in user.
 * @throws AppError BAD_CREDENTIALS with the text, TOO_MANY_TRIES per account, CONFLICT if the account has no password
 */
export async function requireOwnPassword(
  db: Db,
  userId: number,
  password: string,
  refusal: string,
): Promise<UserRow & { password_hash: string }> {
  const account = String(userId)
  await takeAttempt(db, rateLimits.password, account)
  const user = await findUser(db, userId)
  const stored = user?.password_hash
  if (stored === null) throw noPassword('Your account')
  if (!user || stored === undefined || !(await isPassword(password, stored)))
    throw new AppError('BAD_CREDENTIALS', refusal)
  await clearAttempts(db, rateLimits.password, account)
  return { ...user, password_hash: stored }
}

/** @param onSessionsEnded called and awaited after a change of the password; must not throw */
export function createOwnPassword(db: Db, codes: CodeChecks, onSessionsEnded: () => Promise<void>): OwnPassword {
  return {
    async change({ userId, sessionId }, { password, newPassword, token: code }, address) {
      const user = await requireOwnPassword(db, userId, password, 'The old password is incorrect.')
      await codes.check(user, code, { username: user.username, address })
      const hash = await hashPassword(newPassword)
      // The wrong codes stay counted, because only a sign-in shows them to the user.
      const isChanged = await db
        .transaction()
        .execute((transaction) =>
          replacePassword(transaction, userId, hash, { expected: user.password_hash, keptSession: sessionId }),
        )
      if (!isChanged) throw new AppError('CONFLICT', 'Your password was changed in the meantime. Please sign in again.')
      await onSessionsEnded()
    },
  }
}

/** The error for a password change of an account that was created by OpenID Connect and has no password. */
export const noPassword = (account: string) =>
  new AppError('CONFLICT', `${account} has no password, because it signs in by single sign-on.`)
