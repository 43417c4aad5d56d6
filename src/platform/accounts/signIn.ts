import type { Login, VerifyLogin, WrongCodes } from '../../contract/auth'
import { AppError } from '../errors'
import type { Db } from '../state/db'
import { hashToken, randomToken } from '../state/secrets'
import { listSessions } from '../state/sessions'
import { deleteLoginStep, giveBackLoginTry, insertLoginStep, takeLoginTry } from '../state/steps'
import { findUserByName } from '../state/users'
import type { CodeChecks } from './codeChecks'
import { giveBackTries, giveBackTry, hasTryLeft, limits, networkOf, takeTry, wideNetworkOf } from './limits'
import { isPassword } from './passwords'
import type { Client, Sessions } from './sessions'

const STEP_MINUTES = 5
const CODE_TRIES = 5

export interface SignIn {
  /**
   * Step 1. Whoever guesses at one account from many addresses has few tries from each, but for those where its user is signed in.
   * @returns the token of step 2: single purpose, 5 minutes, 5 tries. @throws AppError BAD_CREDENTIALS, TOO_MANY_TRIES
   */
  login(credentials: Login, client: Client): Promise<string>
  /**
   * Step 2. @returns the session's token, the username as it was registered, and the wrong codes since the sign-in before, if there
   * were any before this step. @throws AppError STEP_EXPIRED, INVALID_CODE, TOO_MANY_TRIES
   */
  verify(
    step: VerifyLogin,
    client: Client,
  ): Promise<{ token: string; username: string; isAdmin: boolean; wrongCodes: WrongCodes | undefined }>
  /** @returns the name of the user who is meant, as it was registered; undefined when nobody has it. */
  usernameOf(tried: string): Promise<string | undefined>
}

/** @param now milliseconds since the epoch. */
export function createSignIn(db: Db, codes: CodeChecks, sessions: Sessions, now: () => number): SignIn {
  return {
    async login({ username, password }, { network }) {
      const account = `${username} ${network}`
      await takeTry(db, limits.address, network)
      await takeTry(db, limits.password, account)
      const strange = `${username} ${wideNetworkOf(network)}`
      const isGuessedAt = !(await hasTryLeft(db, limits.account, username))
      const user = await findUserByName(db, username)
      // The same queries for every name, here as well.
      const isKnown = (await listSessions(db, user?.id ?? 0)).some(({ address }) => networkOf(address) === network)
      if (isGuessedAt && !isKnown) await takeTry(db, limits.strange, strange)
      if (!(await isPassword(password, user?.password_hash)) || !user)
        throw new AppError('BAD_CREDENTIALS', 'The username or the password is not right.')
      await giveBackTries(db, limits.password, account)
      await giveBackTries(db, limits.strange, strange)
      await giveBackTry(db, limits.account, username)
      const token = randomToken()
      await insertLoginStep(db, {
        token_hash: hashToken(token),
        user_id: user.id,
        expires_at: new Date(now() + STEP_MINUTES * 60_000),
      })
      return token
    },

    async verify({ username, token: code, sessionToken }, client) {
      await takeTry(db, limits.step, client.network)
      const tokenHash = hashToken(sessionToken)
      // Both, whatever the first one finds: the same queries for every name, so that the time tells nothing about who exists.
      const step = await takeLoginTry(db, tokenHash, CODE_TRIES)
      const user = await findUserByName(db, username)
      const expired = () =>
        new AppError('STEP_EXPIRED', 'This sign-in has expired. Please go back to login and start again.')
      if (!user || step?.user_id !== user.id) throw expired()
      try {
        await codes.check(user, code, { username: null, address: client.address })
      } catch (error) {
        // The code was not looked at: the step has as many tries as before, and counts the wrong codes only.
        if (error instanceof AppError && error.code === 'TOO_MANY_TRIES') await giveBackLoginTry(db, tokenHash)
        throw error
      }
      // Together: whoever ends what the old password opened finds either the step or the session.
      return db.transaction().execute(async (transaction) => {
        const tries = await deleteLoginStep(transaction, tokenHash)
        if (tries === undefined) throw expired()
        const wrongCodes = await codes.clear(transaction, user.id, tries - 1)
        return {
          token: await sessions.open(user, client, transaction),
          username: user.username,
          isAdmin: user.is_admin,
          wrongCodes,
        }
      })
    },

    usernameOf: async (tried) => (await findUserByName(db, tried))?.username,
  }
}
