import type { ChangePassword } from '../../contract/auth'
import { AppError } from '../errors'
import type { Db } from '../state/db'
import type { Secrets } from '../state/secrets'
import type { SessionUser } from '../state/sessions'
import { findUser, replacePassword, useTotpStep } from '../state/users'
import { giveBackTries, limits, takeTry } from './limits'
import { stepOfCode } from './oneTimeCodes'
import { hashPassword, isPassword } from './passwords'

export interface OwnPassword {
  /**
   * Ends all other sessions of the user and keeps the one that asks.
   * @throws AppError BAD_CREDENTIALS for a wrong old password, INVALID_CODE, TOO_MANY_TRIES by account,
   * CONFLICT when an administrator reset it meanwhile
   */
  change(by: SessionUser, change: ChangePassword): Promise<void>
}

/** @param secrets what opens the user's TOTP secret. @param now milliseconds since the epoch. */
export function createOwnPassword(db: Db, secrets: Secrets, now: () => number): OwnPassword {
  return {
    async change({ userId, sessionId }, { password, newPassword, token: code }) {
      const account = String(userId)
      await takeTry(db, limits.password, account)
      const user = await findUser(db, userId)
      if (!user || !(await isPassword(password, user.password_hash))) throw new AppError('BAD_CREDENTIALS', 'The old password is not right.')
      await giveBackTries(db, limits.password, account)
      await takeTry(db, limits.code, account)
      const timeStep = await stepOfCode(secrets.unseal(user.totp_secret, 'totp', user.username), code, now())
      if (timeStep === undefined) throw new AppError('INVALID_CODE', 'The verification code is not right.')
      if (!(await useTotpStep(db, userId, timeStep))) throw new AppError('INVALID_CODE', 'This verification code was used before. Please wait for the next one.')
      await giveBackTries(db, limits.code, account)
      const hash = await hashPassword(newPassword)
      const isChanged = await db.transaction().execute((transaction) => replacePassword(transaction, userId, hash, { expected: user.password_hash, keptSession: sessionId }))
      if (!isChanged) throw new AppError('CONFLICT', 'Your password was changed meanwhile. Please sign in again.')
    },
  }
}
