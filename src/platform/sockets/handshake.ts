import type { IncomingMessage } from 'node:http'
import fastifyCookie from '@fastify/cookie'
import { bearerOf, type Callers } from '../accounts/callers'
import { networkOf, type TrustedProxies } from '../accounts/clientAddress'
import type { Caller } from '../caller'
import { AppError } from '../errors'

/**
 * Whether a page of this origin may open a socket: the console's own origin or a configured one. A browser always sends
 * the header with a WebSocket, and omits it only for GETs that are of the same origin, or whose response the page
 * cannot read. Other clients have no cookie that could be abused.
 */
export function isAllowedOrigin(request: IncomingMessage, origins: string[]): boolean {
  const { headers } = request
  const { origin, host } = headers
  // With two Host headers, the page's own host is not known.
  if (hostsNamedBy(request) > 1) return false
  if (origin === undefined)
    return headers['sec-fetch-site'] === undefined || headers['sec-fetch-site'] === 'same-origin'
  if (origins.includes(origin)) return true
  if (!URL.canParse(origin) || new URL(origin).host !== host) return false
  const { protocol } = new URL(origin)
  return protocol === 'https:' || (protocol === 'http:' && !isUsedByHttps(headers, origins))
}

/**
 * Whether browsers reach the requested host over https. Anyone on their network can then send them an http page of this
 * host, with whose requests some browsers send the cookie. The header is not verified: a false one can only refuse.
 */
function isUsedByHttps(
  { host, 'x-forwarded-proto': protocol }: IncomingMessage['headers'],
  origins: string[],
): boolean {
  // Traefik says `wss` for WebSockets. Of several proxies, the first entry is that of the outermost one.
  const [outermost = ''] = String(protocol ?? '').split(',')
  return ['https', 'wss'].includes(outermost.trim().toLowerCase()) || origins.includes(`https://${host}`)
}

/** @returns the number of a request's `Host` headers; Node.js keeps the first in `headers` */
export function hostsNamedBy({ rawHeaders }: IncomingMessage): number {
  return rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === 'host').length
}

/**
 * The session's token or API key of a handshake. A browser cannot set the header of a WebSocket, so it sends a cookie.
 * @returns undefined if there is none
 */
export function tokenOf({ headers }: IncomingMessage): string | undefined {
  return bearerOf(headers.authorization) ?? fastifyCookie.parse(headers.cookie ?? '').token
}

/** @throws AppError NO_SESSION; TOO_MANY_TRIES for a key that made too many calls; UNAVAILABLE */
export type AuthenticateHandshake = (request: IncomingMessage) => Promise<Caller>

/**
 * Authenticates handshakes, few of a network at a time: a key asks the database, and anybody may send thousands of
 * keys.
 * @param proxies find the client's address
 * @param limit runs few of a network at a time; that of calls (http/limits/callLimit.ts)
 */
export function createHandshakeAuthentication(
  callers: Pick<Callers, 'authenticate' | 'known'>,
  proxies: Pick<TrustedProxies, 'addressOf'>,
  limit: <Result>(network: string, work: () => Promise<Result>) => Promise<Result>,
): AuthenticateHandshake {
  return async (request) => {
    const token = tokenOf(request)
    const known = token === undefined ? undefined : callers.known(token)
    if (known) return known
    return limit(networkOf(proxies.addressOf(request)), async () => {
      if (request.socket.destroyed) throw new AppError('INVALID_INPUT', 'The connection was closed.')
      return callers.authenticate(token)
    })
  }
}
