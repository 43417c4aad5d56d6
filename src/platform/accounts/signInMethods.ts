import type {
  ConfirmAuthenticator,
  OwnMethodsResponse,
  Prove,
  SignInMethod,
  UserMethodsResponse,
} from '../../contract/signIn/signInMethods'
import { AppError } from '../errors'
import { insertAuthenticator, listAuthenticators } from '../state/accounts/authenticators'
import { countChallengeAttempt, insertChallenge, takeChallenge } from '../state/accounts/challenges'
import { findIdentityOf } from '../state/accounts/openId'
import { listPasskeys } from '../state/accounts/passkeys'
import { listRecoveryCodes } from '../state/accounts/recoveryCodes'
import type { SessionUser } from '../state/accounts/sessions'
import { countMethods, deleteMethod, renameMethod, type MethodTable } from '../state/accounts/signInMethods'
import { findUser, lockVerifiedUser } from '../state/accounts/users'
import type { Db } from '../state/db'
import { hashToken, randomToken, type Secrets } from '../state/secrets'
import type { CodeChecks } from './codeChecks'
import { newTotpSecret, qrCodeOf, stepOfCode } from './oneTimeCodes'
import { requireOwnPassword } from './ownPassword'
import type { Passkeys, RelyingParty } from './passkeys'
import { makeRecoveryCodes } from './recoveryCodes'
import { unknownUser } from './users'

const TOKEN_MINUTES = 5
/** Attempts to confirm one new authenticator. */
const MAX_CODE_ATTEMPTS = 5
const MAX_AUTHENTICATORS = 5

/**
 * The authenticators, passkeys and recovery codes of a signed-in user. The ceremonies of passkeys are in passkeys.ts.
 */
export interface SignInMethods {
  list(userId: number): Promise<OwnMethodsResponse['data']>
  /** All ways in which a user signs in. @throws AppError NOT_FOUND for an unknown user */
  listAll(userId: number): Promise<UserMethodsResponse['data']>
  /**
   * Verifies the user again by the password, and a code or a passkey.
   * @param address the client's, for the activity log
   * @returns a token for one change, valid for five minutes
   * @throws AppError BAD_CREDENTIALS, INVALID_CODE, TOO_MANY_TRIES
   */
  prove(by: SessionUser, proof: Prove, rp: RelyingParty | undefined, address: string): Promise<string>
  /** Uses up a token of `prove`. @throws AppError STEP_EXPIRED */
  takeProof(by: SessionUser, proof: string): Promise<void>
  /** Begins to add an authenticator. @returns its TOTP secret, also as QR code, and the token that confirms it */
  beginAuthenticator(by: SessionUser): Promise<{ setup: string; qrCode: string; secret: string }>
  /**
   * Adds the authenticator, proved by its first code.
   * @throws AppError STEP_EXPIRED, INVALID_CODE, CONFLICT for too many authenticators
   */
  confirmAuthenticator(by: SessionUser, confirmed: ConfirmAuthenticator): Promise<void>
  /** @throws AppError NOT_FOUND */
  rename(userId: number, table: MethodTable, id: string, name: string): Promise<void>
  /** @returns the name. @throws AppError NOT_FOUND; CONFLICT for the last method */
  remove(userId: number, table: MethodTable, id: string): Promise<string>
  /** @returns ten new codes; earlier codes become invalid */
  newRecoveryCodes(userId: number): Promise<string[]>
  passkeys: Passkeys
}

interface MethodParts {
  db: Db
  /** Seals TOTP secrets. */
  secrets: Secrets
  codes: Pick<CodeChecks, 'check'>
  passkeys: Passkeys
  /** Milliseconds since the epoch. */
  now: () => number
}

export function createSignInMethods({ db, secrets, codes, passkeys, now }: MethodParts): SignInMethods {
  const ownerOf = ({ userId, sessionId }: SessionUser) => ({ user_id: userId, session_id: sessionId, step_hash: null })
  async function makeToken(by: SessionUser, purpose: string, secret: string | null, into = db): Promise<string> {
    const token = randomToken()
    const expiresAt = new Date(now() + TOKEN_MINUTES * 60_000)
    await insertChallenge(into, { ...ownerOf(by), hash: hashToken(token), purpose, secret, expires_at: expiresAt })
    return token
  }
  async function list(userId: number): Promise<OwnMethodsResponse['data']> {
    return {
      authenticators: (await listAuthenticators(db, userId)).map(toMethod),
      passkeys: (await listPasskeys(db, userId)).map(toMethod),
      recoveryCodes: (await listRecoveryCodes(db, userId)).length,
    }
  }
  const unknownMethod = () => new AppError('NOT_FOUND', 'This sign-in method does not exist. It may have been removed.')

  return {
    passkeys,

    list,

    async listAll(userId) {
      const user = await findUser(db, userId)
      if (!user) throw unknownUser()
      const singleSignOn = (await findIdentityOf(db, userId)) !== undefined
      return { ...(await list(userId)), hasPassword: user.password_hash !== null, singleSignOn }
    },

    async prove(by, { password, code, passkey }, rp, address) {
      const refusal = 'The password is incorrect.'
      const user = await requireOwnPassword(db, by.userId, password, refusal)
      if (passkey)
        await passkeys.verify(passkey, rp, { purpose: 'proof', user_id: by.userId, session_id: by.sessionId }, address)
      else await codes.check(user, code ?? '', { username: user.username, address })
      return db.transaction().execute(async (transaction) => {
        if (!(await lockVerifiedUser(transaction, user))) throw new AppError('BAD_CREDENTIALS', refusal)
        return makeToken(by, 'change', null, transaction)
      })
    },

    async takeProof(by, proof) {
      if (!(await takeChallenge(db, hashToken(proof), 'change', ownerOf(by))))
        throw new AppError('STEP_EXPIRED', 'This took too long. Please enter your password again.')
    },

    async beginAuthenticator(by) {
      const secret = newTotpSecret()
      const setup = await makeToken(by, 'authenticator', secrets.seal(secret, 'totp', by.username))
      return { setup, qrCode: await qrCodeOf(secret, by.username), secret }
    },

    async confirmAuthenticator(by, { setup, name, code }) {
      const hash = hashToken(setup)
      const expired = () =>
        new AppError('STEP_EXPIRED', 'This took too long, or too many codes were wrong. Start again.')
      const pending = await countChallengeAttempt(db, hash, 'authenticator', ownerOf(by), MAX_CODE_ATTEMPTS)
      if (!pending?.secret) throw expired()
      const { secret } = pending
      const step = await stepOfCode(secrets.unseal(secret, 'totp', by.username), code, now())
      if (step === undefined) throw new AppError('INVALID_CODE', 'The verification code is incorrect.')
      await db.transaction().execute(async (transaction) => {
        if ((await countMethods(transaction, by.userId)).authenticators >= MAX_AUTHENTICATORS)
          throw new AppError('CONFLICT', `You have ${MAX_AUTHENTICATORS} authenticator apps already. Remove one first.`)
        if (!(await takeChallenge(transaction, hash, 'authenticator', ownerOf(by)))) throw expired()
        await insertAuthenticator(transaction, { user_id: by.userId, name, secret, last_step: step })
      })
    },

    async rename(userId, table, id, name) {
      if (!(await renameMethod(db, table, userId, id, name))) throw unknownMethod()
    },

    remove: (userId, table, id) =>
      db.transaction().execute(async (transaction) => {
        const { authenticators, passkeys: keys } = await countMethods(transaction, userId)
        const name = await deleteMethod(transaction, table, userId, id)
        if (name === undefined) throw unknownMethod()
        if (authenticators + keys <= 1)
          throw new AppError('CONFLICT', 'This is your last way to sign in. Add another one before you remove it.')
        return name
      }),

    newRecoveryCodes: (userId) => makeRecoveryCodes(db, userId),
  }
}

function toMethod({
  id,
  name,
  created_at,
  last_used_at,
}: {
  id: string
  name: string
  created_at: Date
  last_used_at: Date | null
}): SignInMethod {
  return {
    id,
    name,
    created_at: created_at.toISOString(),
    ...(last_used_at && { last_used_at: last_used_at.toISOString() }),
  }
}
