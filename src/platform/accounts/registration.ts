import { randomInt } from 'node:crypto'
import type { Register, VerifyRegistration } from '../../contract/auth'
import { AppError } from '../errors'
import { isDuplicate, type Db } from '../state/db'
import { findActiveInvite, findFirstInvite, setFirstInvite, useInvite } from '../state/invites'
import { hashToken, randomToken, type Secrets } from '../state/secrets'
import {
  deleteRegistration,
  findRegistration,
  insertRegistration,
  setRegistrationAccount,
  takeRegistrationTry,
} from '../state/steps'
import { findUserByName, hasUsers, insertUser } from '../state/users'
import { limits, takeTry } from './limits'
import { newTotpSecret, qrCodeOf, stepOfCode } from './oneTimeCodes'
import { hashPassword } from './passwords'
import type { Client, Sessions } from './sessions'

export const INVITE_DAYS = 7
const REGISTRATION_MINUTES = 15
const CODE_TRIES = 10

export interface Registration {
  /** In any case, with or without dashes. @returns the invite token, valid for 15 minutes. The invite is not consumed. @throws AppError INVALID_INVITE, TOO_MANY_TRIES */
  verifyInvite(code: string, client: Client): Promise<string>
  /** Nothing exists yet afterwards; calling it again begins anew. @throws AppError STEP_EXPIRED, NAME_TAKEN */
  register(account: Register, client: Client): Promise<{ qrCode: string; secret: string }>
  /** Creates the user and uses the invite, both or neither. @throws AppError STEP_EXPIRED, INVALID_CODE, INVALID_INVITE, NAME_TAKEN */
  verify(step: VerifyRegistration, client: Client): Promise<{ loginToken: string; isAdmin: boolean }>
  /** While there are no users: the code that makes the first administrator, valid for 7 days from now. */
  firstInvite(fixedCode: string | undefined): Promise<string | undefined>
}

/** @param secrets what seals the TOTP secret of who registers. @param sessions where they get their first. @param now milliseconds since the epoch. */
export function createRegistration(db: Db, secrets: Secrets, sessions: Sessions, now: () => number): Registration {
  const expired = () =>
    new AppError('STEP_EXPIRED', 'This registration has expired. Please start again with your invite code.')
  const nameTaken = (username: string) => new AppError('NAME_TAKEN', `The username "${username}" is taken.`)
  const invalidInvite = () =>
    new AppError('INVALID_INVITE', 'This invite code is not valid. It may have been used, revoked or expired.')
  return {
    async verifyInvite(code, { network }) {
      await takeTry(db, limits.invite, network)
      const invite = (await findActiveInvite(db, code.trim())) ?? (await findActiveInvite(db, asMade(code)))
      if (!invite) throw invalidInvite()
      const token = randomToken()
      const expiresAt = new Date(now() + REGISTRATION_MINUTES * 60_000)
      await insertRegistration(db, { token_hash: hashToken(token), invite_code: invite.code, expires_at: expiresAt })
      return token
    },

    async register({ username, password, inviteToken }, { network }) {
      await takeTry(db, limits.invite, network)
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

    async verify({ username, token: code, inviteToken }, client) {
      await takeTry(db, limits.step, client.network)
      const tokenHash = hashToken(inviteToken)
      const pending = await takeRegistrationTry(db, tokenHash, CODE_TRIES)
      if (!pending?.username || !pending.password_hash || !pending.totp_secret || pending.username !== username)
        throw expired()
      const { password_hash, totp_secret } = pending
      const timeStep = await stepOfCode(secrets.unseal(totp_secret, 'totp', username), code, now())
      if (timeStep === undefined) throw new AppError('INVALID_CODE', 'The verification code is not right.')
      const user = await db
        .transaction()
        .execute(async (transaction) => {
          const invite = await useInvite(transaction, pending.invite_code, username)
          if (!invite) throw invalidInvite()
          const isAdmin = invite.is_first
          const id = await insertUser(transaction, {
            username,
            password_hash,
            totp_secret,
            totp_last_step: timeStep,
            is_admin: isAdmin,
          })
          await deleteRegistration(transaction, tokenHash)
          return { id, isAdmin }
        })
        .catch((error: unknown) => {
          throw isDuplicate(error) ? nameTaken(username) : error
        })
      return { loginToken: await sessions.open({ id: user.id, username }, client), isAdmin: user.isAdmin }
    },

    async firstInvite(fixedCode) {
      if (await hasUsers(db)) return undefined
      const code = fixedCode ?? (await findFirstInvite(db))?.code ?? newInviteCode()
      await setFirstInvite(db, code, new Date(now() + INVITE_DAYS * 86_400_000))
      return code
    },
  }
}

/** A code of `newInviteCode` as it was made, of one that somebody typed: in any case, with or without its dashes and with spaces. */
const asMade = (typed: string) =>
  typed
    .replace(/[\s-]/g, '')
    .toUpperCase()
    .replace(/^(.{4})(.{4})(.{4})$/, '$1-$2-$3')

/** 60 random bits as three groups of four, without letters and digits that look alike. */
export function newInviteCode(): string {
  const alphabet = '23456789ABCDEFGHJKLMNPQRSTUVWXYZ'
  const group = () => Array.from({ length: 4 }, () => alphabet[randomInt(alphabet.length)]).join('')
  return `${group()}-${group()}-${group()}`
}
