import type { IncomingMessage } from 'node:http'
import fastifyCookie from '@fastify/cookie'

/**
 * Whether a page of this origin may open a socket: the page's own, or one of the settings. A browser always sends the
 * header with a websocket, and leaves it out only for same-origin GETs; what is no browser has no cookie to steal.
 */
export function isAllowedOrigin({ headers }: IncomingMessage, origins: string[]): boolean {
  const { origin, host } = headers
  if (origin === undefined)
    return headers['sec-fetch-site'] === undefined || headers['sec-fetch-site'] === 'same-origin'
  if (origins.includes(origin)) return true
  return URL.canParse(origin) && /^https?:$/.test(new URL(origin).protocol) && new URL(origin).host === host
}

/** @returns the cookie's value, decoded; undefined when the handshake has none of this name. */
export function cookieOf({ headers }: IncomingMessage, name: string): string | undefined {
  return fastifyCookie.parse(headers.cookie ?? '')[name]
}
