import { randomUUID } from 'node:crypto'
import { jwtVerify, SignJWT } from 'jose'
import { z } from 'zod'
import { SESSION_DAYS } from '../../contract/rules'
import { AppError } from '../errors'
import type { Db } from '../state/db'
import type { Secrets } from '../state/secrets'
import { deleteSession, findLiveSessions, findSession, insertSession, type SessionUser } from '../state/sessions'

/** Where a request comes from: kept with the session, for its owner to recognise. */
export interface Client {
  address: string
  /** What counts for limits: see networkOf. */
  network: string
  device: string
}

export interface Sessions {
  /** Opens a session and gives its token: a JWT (HS256) with `sub`, `jti` and an `exp` in 7 days. */
  open(userId: number, client: Client): Promise<string>
  /**
   * Whose session a token is, as of this moment.
   * @throws AppError NO_SESSION for every token that is not one of a live session.
   */
  read(token: string | undefined): Promise<SessionUser>
  end(sessionId: string): Promise<void>
  /** Of these sessions, the ones that still live: sockets ask again and again. */
  live(sessionIds: string[]): Promise<Set<string>>
}

const Claims = z.object({ sub: z.string(), jti: z.uuid() })

export function createSessions(db: Db, secrets: Secrets, now: () => number): Sessions {
  const key = secrets.keyFor('session token')
  const noSession = () => new AppError('NO_SESSION', 'Your session has ended. Please sign in again.')
  return {
    async open(userId, { address, device }) {
      const id = randomUUID()
      const expiresAt = new Date(now() + SESSION_DAYS * 86_400_000)
      await insertSession(db, { id, user_id: userId, expires_at: expiresAt, address, device: device.slice(0, 200) })
      return new SignJWT().setProtectedHeader({ alg: 'HS256' }).setSubject(String(userId)).setJti(id).setExpirationTime(expiresAt).sign(key)
    },
    async read(token) {
      if (!token) throw noSession()
      // The one allowed algorithm is named: a token cannot choose (RFC 8725 §3.1).
      const claims = await jwtVerify(token, key, { algorithms: ['HS256'], requiredClaims: ['exp', 'sub', 'jti'], currentDate: new Date(now()) })
        .then(({ payload }) => Claims.safeParse(payload).data)
        .catch(() => undefined)
      const user = claims && (await findSession(db, claims.jti))
      if (!user || String(user.userId) !== claims.sub) throw noSession()
      return user
    },
    end: (sessionId) => deleteSession(db, sessionId),
    live: (sessionIds) => findLiveSessions(db, sessionIds),
  }
}
