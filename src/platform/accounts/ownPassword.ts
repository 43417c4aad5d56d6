import type { ChangePassword } from '../../contract/auth'
import { AppError } from '../errors'
import type { Db } from '../state/db'
import type { SessionUser } from '../state/sessions'
import { findUser, replacePassword } from '../state/users'
import type { CodeChecks } from './codeChecks'
import { giveBackTries, limits, takeTry } from './limits'
import { hashPassword, isPassword } from './passwords'

export interface OwnPassword {
  /**
   * Ends all other sessions of the user and keeps the one that asks.
   * @param address where the call comes from, for the activity log.
   * @throws AppError BAD_CREDENTIALS for a wrong old password, INVALID_CODE, TOO_MANY_TRIES by account,
   * CONFLICT when an administrator reset it meanwhile
   */
  change(by: SessionUser, change: ChangePassword, address: string): Promise<void>
}

export function createOwnPassword(db: Db, codes: CodeChecks): OwnPassword {
  return {
    async change({ userId, sessionId }, { password, newPassword, token: code }, address) {
      const account = String(userId)
      await takeTry(db, limits.password, account)
      const user = await findUser(db, userId)
      if (!user || !(await isPassword(password, user.password_hash)))
        throw new AppError('BAD_CREDENTIALS', 'The old password is not right.')
      await giveBackTries(db, limits.password, account)
      await codes.check(user, code, { username: user.username, address })
      const hash = await hashPassword(newPassword)
      // The wrong codes stay counted: only a sign-in tells the user of them.
      const isChanged = await db
        .transaction()
        .execute((transaction) =>
          replacePassword(transaction, userId, hash, { expected: user.password_hash, keptSession: sessionId }),
        )
      if (!isChanged) throw new AppError('CONFLICT', 'Your password was changed meanwhile. Please sign in again.')
    },
  }
}
