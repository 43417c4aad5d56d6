import { randomUUID } from 'node:crypto'
import {
  generateAuthenticationOptions,
  generateRegistrationOptions,
  verifyAuthenticationResponse,
  verifyRegistrationResponse,
  type AuthenticationResponseJSON,
  type RegistrationResponseJSON,
} from '@simplewebauthn/server'
import type { PasskeyAssertion, PasskeyCreation, PasskeyOptions } from '../../contract/signIn/signInMethods'
import { AppError } from '../errors'
import { insertChallenge, takeChallenge } from '../state/accounts/challenges'
import {
  findPasskey,
  insertPasskey,
  listPasskeys,
  markPasskeyUsed,
  type NewPasskey,
  type PasskeyRow,
} from '../state/accounts/passkeys'
import { lockSession, type SessionUser } from '../state/accounts/sessions'
import { countMethods } from '../state/accounts/signInMethods'
import { findUser } from '../state/accounts/users'
import { isDuplicate, type Db } from '../state/db'
import { hashToken } from '../state/secrets'
import type { ActivityLog } from './activityLog'
import { noSession } from './sessions'

const CHALLENGE_MINUTES = 5
const MAX_PASSKEYS = 20

/** The relying party of passkeys: a domain (the RP ID), and the origin of its pages (WebAuthn level 3, §5.1.2). */
export interface RelyingParty {
  id: string
  origin: string
}

/** The use of an assertion: a step of signing in, signing in alone, or a proof within a session. */
export type AssertionUse =
  | { purpose: 'step'; user_id: number; step_hash: string }
  | { purpose: 'alone' }
  | { purpose: 'proof'; user_id: number; session_id: string }

export interface Passkeys {
  /**
   * Creates a challenge for the passkeys of one user, or of any user.
   * @throws AppError CONFLICT if there is no relying party, or the user has no passkey for it
   */
  options(rp: RelyingParty | undefined, use: AssertionUse): Promise<PasskeyOptions>
  /**
   * Verifies the response to a challenge, which is used up whatever the result.
   * @param address the client's, for the activity log
   * @returns the passkey, which belongs to the user of the challenge
   * @throws AppError BAD_CREDENTIALS
   */
  verify(
    response: PasskeyAssertion,
    rp: RelyingParty | undefined,
    use: AssertionUse,
    address: string,
  ): Promise<PasskeyRow>
  /** Creates a challenge for a new passkey. @throws AppError CONFLICT if there is no relying party */
  creationOptions(by: SessionUser, rp: RelyingParty | undefined): Promise<PasskeyOptions>
  /**
   * Stores a new passkey.
   * @throws AppError BAD_CREDENTIALS for a wrong response, CONFLICT for too many passkeys or a known one
   */
  create(by: SessionUser, rp: RelyingParty | undefined, name: string, response: PasskeyCreation): Promise<void>
}

/** The error for a passkey response that could not be verified, whatever the reason. */
export const wrongPasskey = () =>
  new AppError('BAD_CREDENTIALS', 'This passkey was not accepted. Please try again, or sign in another way.')
/** The error for a request without a relying party, from an address where passkeys cannot work. */
export const noRelyingParty = () =>
  new AppError(
    'CONFLICT',
    'Passkeys do not work at this address. They need HTTPS and a domain name; only localhost works without.',
  )

/** @param now milliseconds since the epoch */
export function createPasskeys(db: Db, activityLog: Pick<ActivityLog, 'record'>, now: () => number): Passkeys {
  const storeChallenge = (
    challenge: string,
    use: AssertionUse | { purpose: 'create'; user_id: number; session_id: string },
  ) =>
    insertChallenge(db, {
      ...ownerOf(use),
      hash: hashToken(challenge),
      purpose: use.purpose,
      secret: null,
      expires_at: new Date(now() + CHALLENGE_MINUTES * 60_000),
    })

  return {
    async options(rp, use) {
      if (!rp) throw noRelyingParty()
      const all = use.purpose === 'alone' ? [] : await listPasskeys(db, use.user_id)
      const usable = all.filter(({ rp_id }) => rp_id === rp.id)
      if (use.purpose !== 'alone' && usable.length === 0)
        throw new AppError('CONFLICT', 'This account has no passkey for this address.')
      const options = await generateAuthenticationOptions({
        rpID: rp.id,
        allowCredentials: usable.map(({ credential_id, transports }) => ({ id: credential_id, transports })),
        userVerification: use.purpose === 'alone' ? 'required' : 'preferred',
        timeout: CHALLENGE_MINUTES * 60_000,
      })
      await storeChallenge(options.challenge, use)
      return { ...options }
    },

    async verify(response, rp, use, address) {
      const challenge = challengeOf(response)
      const isIssued = challenge && (await takeChallenge(db, hashToken(challenge), use.purpose, ownerOf(use)))
      const passkey = await findPasskey(db, response.id)
      if (!rp || !isIssued || !passkey || passkey.rp_id !== rp.id) throw wrongPasskey()
      if (use.purpose !== 'alone' && passkey.user_id !== use.user_id) throw wrongPasskey()
      const { userHandle } = response.response
      if (userHandle && userHandle !== userHandleOf(passkey.user_id).toString('base64url')) throw wrongPasskey()
      const counter = await verifyAssertion(response, challenge, rp, passkey, use.purpose === 'alone')
      if (!(await markPasskeyUsed(db, passkey.id, counter))) {
        // The passkey may have been removed meanwhile.
        const user = (await findPasskey(db, response.id)) && (await findUser(db, passkey.user_id))
        if (user)
          activityLog.record({
            username: null,
            kind: 'session',
            action: 'used a passkey whose counter went back, which may be a copy, as',
            subject: `${user.username}: ${passkey.name}`,
            address,
            succeeded: false,
          })
        throw wrongPasskey()
      }
      return passkey
    },

    async creationOptions({ userId, sessionId, username }, rp) {
      if (!rp) throw noRelyingParty()
      const known = (await listPasskeys(db, userId)).filter(({ rp_id }) => rp_id === rp.id)
      const options = await generateRegistrationOptions({
        rpName: 'Quarterdeck',
        rpID: rp.id,
        userName: username,
        userID: new Uint8Array(userHandleOf(userId)),
        attestationType: 'none',
        excludeCredentials: known.map(({ credential_id, transports }) => ({ id: credential_id, transports })),
        authenticatorSelection: { residentKey: 'preferred', userVerification: 'preferred' },
        timeout: CHALLENGE_MINUTES * 60_000,
      })
      await storeChallenge(options.challenge, { purpose: 'create', user_id: userId, session_id: sessionId })
      return { ...options }
    },

    async create({ userId, sessionId }, rp, name, response) {
      const challenge = challengeOf(response)
      const owner = ownerOf({ purpose: 'create', user_id: userId, session_id: sessionId })
      const isIssued = challenge && (await takeChallenge(db, hashToken(challenge), 'create', owner))
      if (!rp || !isIssued) throw wrongPasskey()
      const { id, publicKey, counter, transports = [] } = await verifyCreation(response, challenge, rp)
      await storePasskey(db, sessionId, {
        id: randomUUID(),
        user_id: userId,
        name,
        credential_id: id,
        public_key: Buffer.from(publicKey),
        counter,
        transports: [...transports],
        rp_id: rp.id,
        last_used_at: null,
      })
    },
  }
}

/**
 * @returns the counter of the passkey after this use. @throws AppError BAD_CREDENTIALS if the assertion is not valid
 */
async function verifyAssertion(
  response: PasskeyAssertion,
  challenge: string,
  { id, origin }: RelyingParty,
  passkey: PasskeyRow,
  requireUserVerification: boolean,
): Promise<number> {
  const result = await verifyAuthenticationResponse({
    response: response as unknown as AuthenticationResponseJSON,
    expectedChallenge: challenge,
    expectedOrigin: origin,
    expectedRPID: id,
    // The caller compares the counter, in one statement, so that concurrent calls cannot both pass.
    credential: { id: passkey.credential_id, publicKey: new Uint8Array(passkey.public_key), counter: 0 },
    requireUserVerification,
  }).catch(() => undefined)
  if (!result?.verified) throw wrongPasskey()
  return result.authenticationInfo.newCounter
}

/** @returns the credential to store. @throws AppError BAD_CREDENTIALS if the response is not valid */
async function verifyCreation(response: PasskeyCreation, challenge: string, { id, origin }: RelyingParty) {
  const result = await verifyRegistrationResponse({
    response: response as unknown as RegistrationResponseJSON,
    expectedChallenge: challenge,
    expectedOrigin: origin,
    expectedRPID: id,
    requireUserVerification: false,
  }).catch(() => undefined)
  if (!result?.verified) throw wrongPasskey()
  return result.registrationInfo.credential
}

/** @throws AppError NO_SESSION if the session has ended, CONFLICT for too many passkeys or a known one */
async function storePasskey(db: Db, sessionId: string, passkey: NewPasskey): Promise<void> {
  const userId = passkey.user_id
  await db
    .transaction()
    .execute(async (transaction) => {
      const { passkeys } = await countMethods(transaction, userId)
      if (!(await lockSession(transaction, { userId, sessionId }))) throw noSession()
      if (passkeys >= MAX_PASSKEYS)
        throw new AppError('CONFLICT', `You have ${MAX_PASSKEYS} passkeys already. Remove those that you do not use.`)
      await insertPasskey(transaction, passkey)
    })
    .catch((error: unknown) => {
      throw isDuplicate(error) ? new AppError('CONFLICT', 'This passkey is registered already.') : error
    })
}

/** The user handle of WebAuthn, which reveals nothing personal. */
const userHandleOf = (userId: number) => Buffer.from(`user ${userId}`)

function ownerOf(use: { purpose: string; user_id?: number; session_id?: string; step_hash?: string }) {
  return { user_id: use.user_id ?? null, session_id: use.session_id ?? null, step_hash: use.step_hash ?? null }
}

/** The challenge that a response claims to answer, unverified. */
function challengeOf({ response }: { response: { clientDataJSON: string } }): string | undefined {
  try {
    const data: unknown = JSON.parse(Buffer.from(response.clientDataJSON, 'base64url').toString('utf8'))
    const challenge = (data as { challenge?: unknown } | null)?.challenge
    return typeof challenge === 'string' ? challenge : undefined
  } catch {
    return undefined
  }
}
