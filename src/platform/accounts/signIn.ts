import type { Login, VerifyLogin, WrongCodes } from '../../contract/auth'
import { AppError } from '../errors'
import type { Db } from '../state/db'
import { hashToken, randomToken } from '../state/secrets'
import { listSessions } from '../state/accounts/sessions'
import { deleteLoginStep, uncountLoginAttempt, insertLoginStep, countLoginAttempt } from '../state/accounts/loginSteps'
import { findUserByName } from '../state/accounts/users'
import { networkOf, wideNetworkOf } from './clientAddress'
import type { CodeChecks } from './codeChecks'
import { clearAttempts, giveBackAttempt, rateLimits, takeAttempt, tryTakeAttempt } from './rateLimits'
import { isPassword } from './passwords'
import type { Client, Sessions } from './sessions'

const STEP_MINUTES = 5
const CODE_TRIES = 5

export interface SignIn {
  /**
   * Step 1. An account under attack from many addresses has few attempts from each, except where its user has a
   * session.
   * @returns the token of step 2: single purpose, 5 minutes, 5 attempts
   * @throws AppError BAD_CREDENTIALS, TOO_MANY_TRIES
   */
  login(credentials: Login, client: Client): Promise<string>
  /**
   * Step 2.
   * @returns the session's token, the username as registered, and the wrong codes since the last sign-in except those
   * of this step.
   * @throws AppError STEP_EXPIRED, INVALID_CODE, TOO_MANY_TRIES
   */
  confirmSignIn(
    step: VerifyLogin,
    client: Client,
  ): Promise<{ token: string; username: string; isAdmin: boolean; wrongCodes: WrongCodes | undefined }>
  /** @returns the username as registered; undefined if there is no such user */
  usernameOf(tried: string): Promise<string | undefined>
}

/** @param now milliseconds since the epoch */
export function createSignIn(db: Db, codes: CodeChecks, sessions: Sessions, now: () => number): SignIn {
  return {
    async login({ username, password }, { network }) {
      const account = `${username} ${network}`
      await takeAttempt(db, rateLimits.address, network)
      await takeAttempt(db, rateLimits.password, account)
      const wideAccount = `${username} ${wideNetworkOf(network)}`
      const isGuessedAt = !(await tryTakeAttempt(db, rateLimits.account, username))
      const user = await findUserByName(db, username)
      // The same queries for every name, so that timing does not reveal which users exist.
      const isKnown = (await listSessions(db, user?.id ?? 0)).some(({ address }) => networkOf(address) === network)
      if (isGuessedAt && !isKnown) await takeAttempt(db, rateLimits.unknownAddress, wideAccount)
      if (!(await isPassword(password, user?.password_hash)) || !user)
        throw new AppError('BAD_CREDENTIALS', 'The username or the password is incorrect.')
      await clearAttempts(db, rateLimits.password, account)
      await clearAttempts(db, rateLimits.unknownAddress, wideAccount)
      await giveBackAttempt(db, rateLimits.account, username)
      const token = randomToken()
      await insertLoginStep(db, {
        token_hash: hashToken(token),
        user_id: user.id,
        expires_at: new Date(now() + STEP_MINUTES * 60_000),
      })
      return token
    },

    async confirmSignIn({ username, token: code, sessionToken }, client) {
      await takeAttempt(db, rateLimits.step, client.network)
      const tokenHash = hashToken(sessionToken)
      // The same queries for every name, so that timing does not reveal which users exist.
      const step = await countLoginAttempt(db, tokenHash, CODE_TRIES)
      const user = await findUserByName(db, username)
      const expired = () =>
        new AppError('STEP_EXPIRED', 'This sign-in has expired. Please go back to login and start again.')
      if (!user || step?.user_id !== user.id) throw expired()
      try {
        await codes.check(user, code, { username: null, address: client.address })
      } catch (error) {
        // The code was not verified, so the step keeps its attempts, which count wrong codes only.
        if (error instanceof AppError && error.code === 'TOO_MANY_TRIES') await uncountLoginAttempt(db, tokenHash)
        throw error
      }
      // In one transaction, so that a concurrent password change ends either the step or the session.
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
