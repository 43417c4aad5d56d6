import { randomInt } from 'node:crypto'
import type { Register, VerifyRegistration } from '../../contract/signIn/auth'
import { AppError } from '../errors'
import { setAccess } from '../state/accounts/access'
import { insertAuthenticator } from '../state/accounts/authenticators'
import { isDuplicate, type Db } from '../state/db'
import {
  findActiveInvite,
  findFirstInvite,
  lockFirstInvite,
  setFirstInvite,
  useInvite,
} from '../state/accounts/invites'
import { hashToken, randomToken, type Secrets } from '../state/secrets'
import {
  deleteRegistration,
  findRegistration,
  insertRegistration,
  setRegistrationAccount,
  countRegistrationAttempt,
} from '../state/accounts/registrations'
import { findUserByName, hasAdmin, insertUser } from '../state/accounts/users'
import { rateLimits, takeAttempt } from './rateLimits'
import { newTotpSecret, qrCodeOf, stepOfCode } from './oneTimeCodes'
import { hashPassword } from './passwords'
import type { Client, Sessions } from './sessions'

export const INVITE_DAYS = 7
const REGISTRATION_MINUTES = 15
const CODE_TRIES = 10
/** The name of the authenticator that a user registers with; also that of migrated ones (0016_authenticators.ts). */
const FIRST_AUTHENTICATOR = 'Authenticator app'

export interface Registration {
  /**
   * Accepts a code in any case, with or without dashes. Does not use up the invite.
   * @returns the invite token, valid for 15 minutes. @throws AppError INVALID_INVITE, TOO_MANY_TRIES
   */
  verifyInvite(code: string, client: Client): Promise<string>
  /** Stores the account until it is verified. A repeated call replaces it. @throws AppError STEP_EXPIRED, NAME_TAKEN */
  register(account: Register, client: Client): Promise<{ qrCode: string; secret: string }>
  /**
   * Atomically creates the user and uses the invite.
   * @throws AppError STEP_EXPIRED, INVALID_CODE, INVALID_INVITE, NAME_TAKEN
   */
  confirmRegistration(step: VerifyRegistration, client: Client): Promise<{ loginToken: string; isAdmin: boolean }>
  /**
   * The code for the first administrator, valid for 7 days from now, the same on all replicas; undefined once there is
   * one.
   */
  firstInvite(configuredCode: string | undefined): Promise<string | undefined>
}

/**
 * @param secrets seals TOTP secrets. @param sessions opens the first session. @param now milliseconds since the epoch
 */
export function createRegistration(db: Db, secrets: Secrets, sessions: Sessions, now: () => number): Registration {
  const expired = () =>
    new AppError('STEP_EXPIRED', 'This registration has expired. Please start again with your invite code.')
  const nameTaken = (username: string) => new AppError('NAME_TAKEN', `The username "${username}" is taken.`)
  const invalidInvite = () =>
    new AppError('INVALID_INVITE', 'This invite code is not valid. It may have been used, revoked or expired.')
  return {
    async verifyInvite(code, { network }) {
      await takeAttempt(db, rateLimits.invite, network)
      const invite =
        (await findActiveInvite(db, code.trim())) ?? (await findActiveInvite(db, normalizeInviteCode(code)))
      if (!invite) throw invalidInvite()
      const token = randomToken()
      const expiresAt = new Date(now() + REGISTRATION_MINUTES * 60_000)
      await insertRegistration(db, { token_hash: hashToken(token), invite_code: invite.code, expires_at: expiresAt })
      return token
    },

    async register({ username, password, inviteToken }, { network }) {
      await takeAttempt(db, rateLimits.invite, network)
      const tokenHash = hashToken(inviteToken)
      if (!(await findRegistration(db, tokenHash))) throw expired()
      if (await findUserByName(db, username)) throw nameTaken(username)
      const secret = newTotpSecret()
      await setRegistrationAccount(db, tokenHash, {
        username,
        password_hash: await hashPassword(password),
        totp_secret: secrets.seal(secret, 'totp', username),
      })
      return { qrCode: await qrCodeOf(secret, username), secret }
    },

    async confirmRegistration({ username, token: code, inviteToken }, client) {
      await takeAttempt(db, rateLimits.step, client.network)
      const tokenHash = hashToken(inviteToken)
      const pending = await countRegistrationAttempt(db, tokenHash, CODE_TRIES)
      if (!pending?.username || !pending.password_hash || !pending.totp_secret || pending.username !== username)
        throw expired()
      const { password_hash, totp_secret } = pending
      const timeStep = await stepOfCode(secrets.unseal(totp_secret, 'totp', username), code, now())
      if (timeStep === undefined) throw new AppError('INVALID_CODE', 'The verification code is incorrect.')
      return db
        .transaction()
        .execute(async (transaction) => {
          const invite = await useInvite(transaction, pending.invite_code, username)
          if (!invite) throw invalidInvite()
          const isAdmin = invite.is_first || invite.access?.role === 'administrator'
          const id = await insertUser(transaction, {
            username,
            password_hash,
            is_admin: isAdmin,
          })
          await insertAuthenticator(transaction, {
            user_id: id,
            name: FIRST_AUTHENTICATOR,
            secret: totp_secret,
            last_step: timeStep,
          })
          // A deployment that was deleted since is left out.
          if (invite.access) await setAccess(transaction, id, invite.access)
          await deleteRegistration(transaction, tokenHash)
          // In this transaction, so that a failure leaves no account that its user was not told about.
          return { loginToken: await sessions.open({ id, username }, client, transaction), isAdmin }
        })
        .catch((error: unknown) => {
          throw isDuplicate(error) ? nameTaken(username) : error
        })
    },

    async firstInvite(configuredCode) {
      return db.transaction().execute(async (transaction) => {
        await lockFirstInvite(transaction)
        if (await hasAdmin(transaction)) return undefined
        const code = configuredCode ?? (await findFirstInvite(transaction))?.code ?? newInviteCode()
        await setFirstInvite(transaction, code, new Date(now() + INVITE_DAYS * 86_400_000))
        return code
      })
    },
  }
}

/** Normalizes a typed code: any case, with spaces, with or without dashes. */
const normalizeInviteCode = (typed: string) =>
  typed
    .replace(/[\s-]/g, '')
    .toUpperCase()
    .replace(/^(.{4})(.{4})(.{4})$/, '$1-$2-$3')

/** 60 random bits as three groups of four, without characters that look alike. */
export function newInviteCode(): string {
  const alphabet = '23456789ABCDEFGHJKLMNPQRSTUVWXYZ'
  const group = () => Array.from({ length: 4 }, () => alphabet[randomInt(alphabet.length)]).join('')
  return `${group()}-${group()}-${group()}`
}
