import type { IncomingMessage } from 'node:http'
import fastifyCookie from '@fastify/cookie'

/**
 * Whether a page of this origin may open a socket: the console's own origin or a configured one. A browser always sends
 * the header with a WebSocket, and omits it only for same-origin GETs. Other clients have no cookie that could be
 * abused.
 */
export function isAllowedOrigin(request: IncomingMessage, origins: string[]): boolean {
  const { headers } = request
  const { origin, host } = headers
  // Which of two hosts is the page's own, nobody can say.
  if (hostsNamedBy(request) > 1) return false
  if (origin === undefined)
    return headers['sec-fetch-site'] === undefined || headers['sec-fetch-site'] === 'same-origin'
  if (origins.includes(origin)) return true
  return URL.canParse(origin) && /^https?:$/.test(new URL(origin).protocol) && new URL(origin).host === host
}

/** @returns the number of a request's `Host` headers; Node.js keeps the first in `headers` */
export function hostsNamedBy({ rawHeaders }: IncomingMessage): number {
  return rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === 'host').length
}

/** @returns the decoded value of a cookie; undefined if there is none */
export function cookieOf({ headers }: IncomingMessage, name: string): string | undefined {
  return fastifyCookie.parse(headers.cookie ?? '')[name]
}
