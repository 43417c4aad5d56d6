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
   * @throws AppError BAD_CREDENTIALS for a wrong old password, INVALID_CODE, TOO_MANY_TRIES per account, STEP_EXPIRED
   * for a wrong proof, CONFLICT if an administrator reset it during the call, or the account has no password
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

interface OwnPasswordParts {
  db: Db
  codes: Pick<CodeChecks, 'check'>
  /** Uses up a proof of the user's identity. @throws AppError STEP_EXPIRED */
  takeProof: (by: SessionUser, proof: string) => Promise<void>
  /** Called and awaited after a change of the password; must not throw. */
  onSessionsEnded: () => Promise<void>
}

export function createOwnPassword({ db, codes, takeProof, onSessionsEnded }: OwnPasswordParts): OwnPassword {
  /** @returns the hash to replace */
  async function verify(
    by: SessionUser,
    { password = '', token = '', proof }: ChangePassword,
    address: string,
  ): Promise<string> {
    if (proof === undefined) {
      const user = await requireOwnPassword(db, by.userId, password, 'The old password is incorrect.')
      await codes.check(user, token, { username: user.username, address })
      return user.password_hash
    }
    // Read before the proof is taken: a reset ends the session with its proofs, and a later one changes this hash.
    const stored = (await findUser(db, by.userId))?.password_hash
    if (stored === null) throw noPassword('Your account')
    await takeProof(by, proof)
    // Of a user who was deleted, the proof is gone.
    return stored ?? ''
  }

  return {
    async change(by, change, address) {
      const expected = await verify(by, change, address)
      const hash = await hashPassword(change.newPassword)
      // The wrong codes stay counted, because only a sign-in shows them to the user.
      const isChanged = await db
        .transaction()
        .execute((transaction) =>
          replacePassword(transaction, by.userId, hash, { expected, keptSession: by.sessionId }),
        )
      if (!isChanged) throw new AppError('CONFLICT', 'Your password was changed in the meantime. Please sign in again.')
      await onSessionsEnded()
    },
  }
}

/** The error for a password change of an account that was created by OpenID Connect and has no password. */
export const noPassword = (account: string) =>
  new AppError('CONFLICT', `${account} has no password, because it signs in by single sign-on.`)
