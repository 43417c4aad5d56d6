import { SESSION_DAYS } from '../../contract/rules'
import type { Services } from '../app/types'
import type { Session } from '../facts'

/** The one place that reads and writes tokens: they live in cookies and storage, never in the store or in an action. */

const PENDING = 'sessionToken'
/** As long as the platform keeps the token of step 1. In milliseconds. */
const PENDING_MS = 5 * 60_000

export const bearerToken = ({ cookies }: Services) => cookies.get('token')

/** The session of the cookies, if its token is readable and still valid. */
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

/** The claims of a JWT (RFC 7519 §7.2). Whether it is genuine is for the server to say. @throws for what is none */
function claimsOf(token: string) {
  const payload = atob((token.split('.')[1] ?? '').replaceAll('-', '+').replaceAll('_', '/'))
  const text = new TextDecoder().decode(Uint8Array.from(payload, (byte) => byte.charCodeAt(0)))
  return JSON.parse(text) as { exp?: number; jti?: string; sub?: string; preferred_username?: string }
}

const optionsOf = (expires: number | Date) => ({
  expires,
  sameSite: 'strict' as const,
  secure: window.location.protocol === 'https:',
  path: '/',
})

/** Keeps what the server says by now, as long as the session itself. */
export function keepAdmin({ cookies }: Services, isAdmin: boolean, expiresAt: number) {
  cookies.set('isAdmin', isAdmin ? '1' : '0', optionsOf(new Date(expiresAt)))
}

/** Keeps the session and says whether it can be used. */
export function keepSession(services: Services, token: unknown, isAdmin: unknown): boolean {
  if (typeof token !== 'string') return false
  const options = optionsOf(SESSION_DAYS)
  services.cookies.set('token', token, options)
  services.cookies.set('isAdmin', Number(isAdmin) === 1 ? '1' : '0', options)
  if (readSession(services)) return true
  forgetSession(services)
  return false
}

export function forgetSession({ cookies }: Services) {
  cookies.remove('token', { path: '/' })
  cookies.remove('isAdmin', { path: '/' })
}

export type PendingLogin = { username: string; sessionToken: string }

/** Step 1 outlives a reload: phones drop the page while the user looks at the authenticator app. */
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
