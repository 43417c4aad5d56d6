import { randomUUID, webcrypto } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { jwtVerify, SignJWT } from 'jose'
import { z } from 'zod'
import type { PreviousSignIn } from '../../contract/access'
import type { OwnSession } from '../../contract/signIn/auth'
import { SESSION_DAYS } from '../../contract/rules'
import { AppError } from '../errors'
import type { Db } from '../state/db'
import { createNotifications, type Notifications } from '../state/notifications'
import type { Secrets } from '../state/secrets'
import {
  deleteSessionsOf,
  deleteSession,
  deleteSessionOf,
  findPreviousSignIn,
  findSessions,
  insertSession,
  listSessions,
  useSessions,
  type SessionUser,
} from '../state/accounts/sessions'

/** The origin of a request, stored with the session so that its owner can recognise it. */
export interface Client {
  address: string
  /** The unit of rate limits: see networkOf. */
  network: string
  device: string
}

export interface Sessions {
  /**
   * Opens a session.
   * @returns its token: a JWT (HS256) with `sub`, `jti` and an `exp` in 7 days. The username (`preferred_username`,
   * OpenID Connect Core §5.1) is informative only.
   */
  open(user: { id: number; username: string }, client: Client, transaction?: Db): Promise<string>
  /**
   * The claims of a token that is signed and not expired. Does not check that the session still exists.
   * @throws AppError NO_SESSION
   */
  verify(token: string | undefined): Promise<SessionClaims>
  /** As `verify`, for a token that was verified before. Undefined means unknown, not invalid. */
  verified(token: string): SessionClaims | undefined
  /** The sign-in of its user before the one that opened this session. Undefined if that was the first one. */
  previousSignIn(sessionId: string): Promise<PreviousSignIn | undefined>
  end(sessionId: string): Promise<void>
  /** The user's sessions, the last used first. @param user with the session that is marked as the caller's */
  list(user: { userId: number; sessionId?: string | undefined }): Promise<OwnSession[]>
  /** Ends one of the user's sessions. @throws AppError NOT_FOUND if the user has no such session */
  endOwn(user: Pick<SessionUser, 'userId'>, sessionId: string): Promise<void>
  endAll(userId: number): Promise<void>
  /** Ends all of the user's sessions but this one. */
  endOthers(user: SessionUser): Promise<void>
  /** The users of these sessions, without those of sessions that have ended. Sockets poll it. */
  find(sessionIds: string[]): Promise<SessionUser[]>
  /** As `find`, for sessions in use: also updates `last_used_at`, at most once a minute. */
  use(sessionIds: string[]): Promise<SessionUser[]>
  /**
   * Tells every replica that sessions have ended or users' rights have changed. The methods above do it themselves.
   * Resolves when every replica applies the change to calls that arrive from then on. Never rejects.
   */
  announceChange: () => Promise<void>
  /** Calls the listener soon after every such change. @returns a function that unsubscribes */
  onChange(listener: () => void): () => void
}

export interface SessionClaims {
  sessionId: string
  userId: number
}

const Claims = z.object({
  sub: z.string().regex(/^\d+$/).transform(Number),
  jti: z.uuid(),
  exp: z.number(),
})

/** Verified tokens that are remembered, because a verification takes longer than the rest of a light call. */
const MAX_VERIFIED = 1000

/** The error for a call whose session does not exist, or no longer does. */
export const noSession = () => new AppError('NO_SESSION', 'Your session has ended. Please sign in again.')

/**
 * @param secrets signs the tokens: a new key ends every session
 * @param now milliseconds since the epoch
 * @param relyMs how long calls at other replicas may rely on an earlier read, in milliseconds; 0 without other replicas
 */
export function createSessions(
  db: Db,
  secrets: Secrets,
  now: () => number,
  notifications: Pick<Notifications, 'publish' | 'on'> = createNotifications(),
  relyMs = 0,
): Sessions {
  async function announceChange(): Promise<void> {
    notifications.publish('sessions')
    if (relyMs > 0) await delay(relyMs)
  }
  const verifiedTokens = new Map<string, SessionClaims & { exp: number }>()
  function verified(token: string): SessionClaims | undefined {
    const claims = verifiedTokens.get(token)
    return claims && claims.exp > Math.floor(now() / 1000) ? claims : undefined
  }
  // Imported once, because every request verifies a token.
  const signingKey = webcrypto.subtle.importKey(
    'raw',
    secrets.keyFor('session token'),
    { name: 'HMAC', hash: 'SHA-256' },
    false,
    ['sign', 'verify'],
  )
  return {
    async open({ id: userId, username }, { address, device }, transaction = db) {
      const id = randomUUID()
      const expiresAt = new Date(now() + SESSION_DAYS * 86_400_000)
      await insertSession(transaction, {
        id,
        user_id: userId,
        expires_at: expiresAt,
        address,
        device: device.slice(0, 200),
      })
      return new SignJWT({ preferred_username: username })
        .setProtectedHeader({ alg: 'HS256' })
        .setSubject(String(userId))
        .setJti(id)
        .setExpirationTime(expiresAt)
        .sign(await signingKey)
    },
    verified,
    async verify(token) {
      if (!token) throw noSession()
      const known = verified(token)
      if (known) return known
      // Fixed, so that a token cannot choose its algorithm (RFC 8725 §3.1).
      const claims = await jwtVerify(token, await signingKey, {
        algorithms: ['HS256'],
        requiredClaims: ['exp', 'sub', 'jti'],
        currentDate: new Date(now()),
      })
        .then(({ payload }) => Claims.safeParse(payload).data)
        .catch(() => undefined)
      if (!claims) throw noSession()
      const { jti: sessionId, sub: userId, exp } = claims
      const [oldest] = verifiedTokens.keys()
      if (oldest !== undefined && verifiedTokens.size >= MAX_VERIFIED) verifiedTokens.delete(oldest)
      verifiedTokens.set(token, { sessionId, userId, exp })
      return { sessionId, userId }
    },
    async previousSignIn(sessionId) {
      const previous = await findPreviousSignIn(db, sessionId)
      return previous && { at: previous.at.toISOString(), address: previous.address }
    },
    async end(sessionId) {
      await deleteSession(db, sessionId)
      await announceChange()
    },
    async list({ userId, sessionId }) {
      const rows = await listSessions(db, userId)
      return rows.map(({ id, device, address, created_at, last_used_at }) => ({
        id,
        device,
        address,
        created_at: created_at.toISOString(),
        last_used_at: last_used_at.toISOString(),
        current: id === sessionId,
      }))
    },
    async endOwn({ userId }, sessionId) {
      if (!(await deleteSessionOf(db, userId, sessionId)))
        throw new AppError('NOT_FOUND', 'This session does not exist. It may have ended already.')
      await announceChange()
    },
    async endAll(userId) {
      await deleteSessionsOf(db, userId)
      await announceChange()
    },
    async endOthers({ userId, sessionId }) {
      await deleteSessionsOf(db, userId, sessionId)
      await announceChange()
    },
    find: (sessionIds) => findSessions(db, sessionIds),
    use: (sessionIds) => useSessions(db, sessionIds),
    announceChange,
    onChange: (listener) => notifications.on('sessions', listener),
  }
}
