import type { Login, VerifyLogin } from '../../contract/auth'
import { AppError } from '../errors'
import type { Db } from '../state/db'
import { hashToken, randomToken, type Secrets } from '../state/secrets'
import { deleteLoginStep, insertLoginStep, takeLoginTry } from '../state/steps'
import { findUserByName, useTotpStep } from '../state/users'
import { giveBackTries, limits, takeTry } from './limits'
import { stepOfCode } from './oneTimeCodes'
import { isPassword } from './passwords'
import type { Client, Sessions } from './sessions'

const STEP_MINUTES = 5
const CODE_TRIES = 5

export interface SignIn {
  /** Step 1. @returns the token of step 2: single purpose, 5 minutes, 5 tries. @throws AppError BAD_CREDENTIALS, TOO_MANY_TRIES */
  login(credentials: Login, client: Client): Promise<string>
  /** Step 2. @returns the session's token, and the username as it was registered. @throws AppError STEP_EXPIRED, INVALID_CODE, TOO_MANY_TRIES */
  verify(step: VerifyLogin, client: Client): Promise<{ token: string; username: string; isAdmin: boolean }>
  /** @returns the name of the user who is meant, as it was registered; undefined when nobody has it. */
  usernameOf(tried: string): Promise<string | undefined>
}

/** @param secrets what opens the users' TOTP secrets. @param now milliseconds since the epoch. */
export function createSignIn(db: Db, secrets: Secrets, sessions: Sessions, now: () => number): SignIn {
  return {
    async login({ username, password }, { network }) {
      const account = `${username} ${network}`
      await takeTry(db, limits.address, network)
      await takeTry(db, limits.password, account)
      const user = await findUserByName(db, username)
      if (!(await isPassword(password, user?.password_hash)) || !user) throw new AppError('BAD_CREDENTIALS', 'The username or the password is not right.')
      await giveBackTries(db, limits.password, account)
      const token = randomToken()
      await insertLoginStep(db, { token_hash: hashToken(token), user_id: user.id, expires_at: new Date(now() + STEP_MINUTES * 60_000) })
      return token
    },

    async verify({ username, token: code, sessionToken }, client) {
      await takeTry(db, limits.step, client.network)
      const tokenHash = hashToken(sessionToken)
      // Both, whatever the first one finds: the same queries for every name, so that the time tells nothing about who exists.
      const step = await takeLoginTry(db, tokenHash, CODE_TRIES)
      const user = await findUserByName(db, username)
      const expired = () => new AppError('STEP_EXPIRED', 'This sign-in has expired. Please go back to login and start again.')
      if (!user || step?.user_id !== user.id) throw expired()
      await takeTry(db, limits.code, String(user.id))
      const secret = secrets.unseal(user.totp_secret, 'totp', user.username)
      const timeStep = await stepOfCode(secret, code, now())
      if (timeStep === undefined) throw new AppError('INVALID_CODE', 'The verification code is not right.')
      if (!(await useTotpStep(db, user.id, timeStep))) throw new AppError('INVALID_CODE', 'This verification code was used before. Please wait for the next one.')
      await giveBackTries(db, limits.code, String(user.id))
      // Together: whoever ends what the old password opened finds either the step or the session.
      const token = await db.transaction().execute(async (transaction) => {
        if (!(await deleteLoginStep(transaction, tokenHash))) throw expired()
        return sessions.open(user, client, transaction)
      })
      return { token, username: user.username, isAdmin: user.is_admin }
    },

    usernameOf: async (tried) => (await findUserByName(db, tried))?.username,
  }
}
