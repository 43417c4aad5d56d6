import { SESSION_DAYS } from '../../../contract/rules'
import type { Services } from '../../app/services'
import { basePath } from '../../basePath'
import type { Session } from '../../facts'

/** The only module that reads and writes tokens. Tokens are in cookies and storage, never in the store or an action. */

const PENDING = 'sessionToken'
/** The platform's lifetime of the token of step 1. */
const PENDING_MS = 5 * 60_000

export const bearerToken = ({ cookies }: Services) => cookies.get('token')

/** Returns the session of the cookies, or null if its token is missing, unreadable or expired. */
export function readSession({ cookies, now }: Services): Session | null {
  const token = cookies.get('token')
  if (!token) return null
  try {
    const { exp, jti, sub, preferred_username } = claimsOf(token)
    if (typeof exp !== 'number' || exp * 1000 <= now()) return null
    return {
      id: jti ?? `${sub}@${exp}`,
      isAdmin: cookies.get('isAdmin') === '1',
      subject: sub,
      username: preferred_username,
      expiresAt: exp * 1000,
    }
  } catch {
    return null
  }
}

/** Decodes the claims of a JWT (RFC 7519 §7.2) without verifying it. @throws if it is not a JWT */
function claimsOf(token: string) {
  const payload = atob((token.split('.')[1] ?? '').replaceAll('-', '+').replaceAll('_', '/'))
  const text = new TextDecoder().decode(Uint8Array.from(payload, (byte) => byte.charCodeAt(0)))
  return JSON.parse(text) as { exp?: number; jti?: string; sub?: string; preferred_username?: string }
}

/** Cookies belong to the console alone, not to other applications of its origin. */
const cookiePath = () => basePath() || '/'

const cookieOptions = (expires: number | Date) => ({
  expires,
  sameSite: 'strict' as const,
  secure: window.location.protocol === 'https:',
  path: cookiePath(),
})

/** Stores the role for the rest of the session. */
export function keepAdmin({ cookies }: Services, isAdmin: boolean, expiresAt: number) {
  cookies.set('isAdmin', isAdmin ? '1' : '0', cookieOptions(new Date(expiresAt)))
}

/** Stores the session. Returns false, and stores nothing, if the token is unusable. */
export function keepSession(services: Services, token: unknown, isAdmin: unknown): boolean {
  if (typeof token !== 'string') return false
  const options = cookieOptions(SESSION_DAYS)
  services.cookies.set('token', token, options)
  services.cookies.set('isAdmin', Number(isAdmin) === 1 ? '1' : '0', options)
  if (readSession(services)) return true
  forgetSession(services)
  return false
}

export function forgetSession({ cookies }: Services) {
  cookies.remove('token', { path: cookiePath() })
  cookies.remove('isAdmin', { path: cookiePath() })
}

export type PendingLogin = { username: string; sessionToken: string }

/** Step 1 survives a reload: phones discard the page while the user looks at the authenticator app. */
export function readPendingLogin({ storage, now }: Services): PendingLogin | null {
  try {
    const { username, sessionToken, at } = JSON.parse(storage.getItem(PENDING) ?? '{}') as Record<string, unknown>
    if (typeof username !== 'string' || typeof sessionToken !== 'string' || typeof at !== 'number') return null
    return Math.abs(now() - at) < PENDING_MS ? { username, sessionToken } : null
  } catch {
    return null
  }
}

export function keepPendingLogin({ storage, now }: Services, pending: PendingLogin) {
  storage.setItem(PENDING, JSON.stringify({ ...pending, at: now() }))
}

export function forgetPendingLogin({ storage }: Services) {
  storage.removeItem(PENDING)
}
