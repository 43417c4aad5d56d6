import type { Login, VerifyLogin, WrongCodes } from '../../contract/signIn/auth'
import type { LoginStep, PasskeyAssertion, PasskeyOptions } from '../../contract/signIn/signInMethods'
import { AppError } from '../errors'
import type { Db } from '../state/db'
import { hashToken, randomToken } from '../state/secrets'
import { listSessionAddresses } from '../state/accounts/sessions'
import { deleteLoginStep, uncountLoginAttempt, insertLoginStep, countLoginAttempt } from '../state/accounts/loginSteps'
import { findPasskey } from '../state/accounts/passkeys'
import { findUser, findUserByName, lockUser, lockVerifiedUser, type UserRow } from '../state/accounts/users'
import { networkOf, wideNetworkOf } from './clientAddress'
import type { CodeChecks } from './codeChecks'
import { noRelyingParty, wrongPasskey, type Passkeys, type RelyingParty } from './passkeys'
import { clearAttempts, giveBackAttempt, rateLimits, takeAttempt, tryTakeAttempt } from './rateLimits'
import { isPassword } from './passwords'
import type { Client, Sessions } from './sessions'

const STEP_MINUTES = 5
const CODE_TRIES = 5

export interface SignedIn {
  token: string
  username: string
  isAdmin: boolean
  wrongCodes: WrongCodes | undefined
}

export interface SignIn {
  /**
   * Step 1. An account under attack from many addresses allows few attempts per address, except for addresses where its
   * user has a session.
   * @returns the token of step 2: single purpose, 5 minutes, 5 wrong codes
   * @throws AppError BAD_CREDENTIALS, TOO_MANY_TRIES
   */
  login(credentials: Login, client: Client): Promise<string>
  /**
   * Step 2.
   * @returns the session's token, the username as registered, and the wrong codes since the last sign-in except those
   * of this step.
   * @throws AppError STEP_EXPIRED, INVALID_CODE, TOO_MANY_TRIES
   */
  confirmSignIn(step: VerifyLogin, client: Client): Promise<SignedIn>
  /** Creates a challenge for the user's passkeys in step 2. @throws AppError STEP_EXPIRED, CONFLICT without passkeys */
  stepPasskeyOptions(step: LoginStep, client: Client, rp: RelyingParty | undefined): Promise<PasskeyOptions>
  /** Step 2 with a passkey. @returns as confirmSignIn. @throws AppError STEP_EXPIRED, BAD_CREDENTIALS */
  confirmWithPasskey(
    step: LoginStep & { response: PasskeyAssertion },
    client: Client,
    rp: RelyingParty | undefined,
  ): Promise<SignedIn>
  /**
   * Creates a challenge for any user's passkey.
   * @throws AppError TOO_MANY_TRIES, CONFLICT where passkeys do not work
   */
  alonePasskeyOptions(client: Client, rp: RelyingParty | undefined): Promise<PasskeyOptions>
  /**
   * Signs in with a passkey alone, which must have verified its user. @returns as confirmSignIn. @throws AppError
   * BAD_CREDENTIALS
   */
  signInWithPasskey(response: PasskeyAssertion, client: Client, rp: RelyingParty | undefined): Promise<SignedIn>
  /** @returns the username as registered; undefined if there is no such user */
  usernameOf(tried: string): Promise<string | undefined>
}

/** @param now milliseconds since the epoch */
export function createSignIn(
  db: Db,
  { codes, passkeys }: { codes: CodeChecks; passkeys: Passkeys },
  sessions: Sessions,
  now: () => number,
): SignIn {
  const expired = () =>
    new AppError('STEP_EXPIRED', 'This sign-in has expired. Please go back to login and start again.')

  /** Counts an attempt at step 2. @throws AppError STEP_EXPIRED, TOO_MANY_TRIES */
  async function openStep(username: string, sessionToken: string, client: Client) {
    await takeAttempt(db, rateLimits.step, client.network)
    const tokenHash = hashToken(sessionToken)
    // The same queries for every name, so that timing does not reveal which users exist.
    const step = await countLoginAttempt(db, tokenHash, CODE_TRIES)
    const user = await findUserByName(db, username)
    if (!user || step?.user_id !== user.id) throw expired()
    return { user, tokenHash }
  }

  /** Does the work of an attempt at step 2. The attempts of a step count wrong codes only. */
  async function countOnlyWrongCode<Result>(tokenHash: string, work: () => Promise<Result>): Promise<Result> {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof AppError && error.code === 'INVALID_CODE')) await uncountLoginAttempt(db, tokenHash)
      throw error
    }
  }

  /** @param by step 2, or a passkey alone */
  function openSession(
    user: UserRow,
    by: { tokenHash: string } | { credentialId: string },
    client: Client,
  ): Promise<SignedIn> {
    // In one transaction, so that a concurrent change of the password ends the step or removes the passkey, or ends the
    // session.
    return db.transaction().execute(async (transaction) => {
      const isAlone = 'credentialId' in by
      const refusal = isAlone ? wrongPasskey : expired
      if (!(await lockUser(transaction, user.id))) throw refusal()
      const tries = isAlone
        ? (await findPasskey(transaction, by.credentialId)) && 1
        : await deleteLoginStep(transaction, by.tokenHash)
      if (tries === undefined) throw refusal()
      const wrongCodes = await codes.clear(transaction, user.id, tries - 1)
      return {
        token: await sessions.open(user, client, transaction),
        username: user.username,
        isAdmin: user.is_admin,
        wrongCodes,
      }
    })
  }

  return {
    async login(credentials, client) {
      const user = await checkPassword(db, credentials, client)
      const token = randomToken()
      await db.transaction().execute(async (transaction) => {
        if (!(await lockVerifiedUser(transaction, user))) throw badCredentials()
        await insertLoginStep(transaction, {
          token_hash: hashToken(token),
          user_id: user.id,
          expires_at: new Date(now() + STEP_MINUTES * 60_000),
        })
      })
      return token
    },

    async confirmSignIn({ username, token: code, sessionToken }, client) {
      const { user, tokenHash } = await openStep(username, sessionToken, client)
      await countOnlyWrongCode(tokenHash, () => codes.check(user, code, { username: null, address: client.address }))
      return openSession(user, { tokenHash }, client)
    },

    async stepPasskeyOptions({ username, sessionToken }, client, rp) {
      const { user, tokenHash } = await openStep(username, sessionToken, client)
      const options = await countOnlyWrongCode(tokenHash, () =>
        passkeys.options(rp, { purpose: 'step', user_id: user.id, step_hash: tokenHash }),
      )
      await uncountLoginAttempt(db, tokenHash)
      return options
    },

    async confirmWithPasskey({ username, sessionToken, response }, client, rp) {
      const { user, tokenHash } = await openStep(username, sessionToken, client)
      const owner = { purpose: 'step' as const, user_id: user.id, step_hash: tokenHash }
      const { user_id } = await countOnlyWrongCode(tokenHash, () =>
        passkeys.verify(response, rp, owner, client.address),
      )
      if (user_id !== user.id) throw new Error('The passkey of another user was accepted')
      return openSession(user, { tokenHash }, client)
    },

    async alonePasskeyOptions(client, rp) {
      // Other sites can make browsers send this request. It then has no relying party, and uses up no attempts.
      if (!rp) throw noRelyingParty()
      await takeAttempt(db, rateLimits.challenge, client.network)
      return passkeys.options(rp, { purpose: 'alone' })
    },

    async signInWithPasskey(response, client, rp) {
      await takeAttempt(db, rateLimits.step, client.network)
      const { user_id, credential_id } = await passkeys.verify(response, rp, { purpose: 'alone' }, client.address)
      const user = await findUser(db, user_id)
      if (!user) throw wrongPasskey()
      return openSession(user, { credentialId: credential_id }, client)
    },

    usernameOf: async (tried) => (await findUserByName(db, tried))?.username,
  }
}

const badCredentials = () => new AppError('BAD_CREDENTIALS', 'The username or the password is incorrect.')

/** Checks a password within the limits of attempts. @throws AppError BAD_CREDENTIALS, TOO_MANY_TRIES */
async function checkPassword(db: Db, { username, password }: Login, { network }: Client): Promise<UserRow> {
  const account = `${username} ${network}`
  await takeAttempt(db, rateLimits.address, network)
  await takeAttempt(db, rateLimits.password, account)
  const wideAccount = `${username} ${wideNetworkOf(network)}`
  const isGuessedAt = !(await tryTakeAttempt(db, rateLimits.account, username))
  const user = await findUserByName(db, username)
  // The same queries for every name, so that timing does not reveal which users exist.
  const isKnown = (await listSessionAddresses(db, user?.id ?? 0)).some((address) => networkOf(address) === network)
  if (isGuessedAt && !isKnown) await takeAttempt(db, rateLimits.unknownAddress, wideAccount)
  if (!(await isPassword(password, user?.password_hash)) || !user) throw badCredentials()
  await clearAttempts(db, rateLimits.password, account)
  await clearAttempts(db, rateLimits.unknownAddress, wideAccount)
  await giveBackAttempt(db, rateLimits.account, username)
  return user
}
