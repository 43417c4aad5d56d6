import type { IncomingMessage } from 'node:http'
import { BlockList, isIP } from 'node:net'
import fastifyCookie from '@fastify/cookie'

/**
 * Whether a page of this origin may open a socket: the page's own, or one of the settings. A browser always sends the
 * header with a websocket, and leaves it out only for same-origin GETs; what is no browser has no cookie to steal.
 */
export function isAllowedOrigin({ headers }: IncomingMessage, origins: string[]): boolean {
  const { origin, host } = headers
  if (origin === undefined) return headers['sec-fetch-site'] === undefined || headers['sec-fetch-site'] === 'same-origin'
  if (origins.includes(origin)) return true
  return URL.canParse(origin) && /^https?:$/.test(new URL(origin).protocol) && new URL(origin).host === host
}

/** @returns the cookie's value, decoded; undefined when the handshake has none of this name. */
export function cookieOf({ headers }: IncomingMessage, name: string): string | undefined {
  return fastifyCookie.parse(headers.cookie ?? '')[name]
}

/**
 * Finds where a handshake comes from, as Fastify's `request.ip` does for calls: the last address of `X-Forwarded-For` that
 * is not a trusted proxy's own.
 * @param trustedProxies addresses or networks.
 */
export function addressFinder(trustedProxies: string[]): (request: IncomingMessage) => string {
  const trusted = new BlockList()
  for (const proxy of trustedProxies) {
    const [address = '', bits] = proxy.split('/')
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4'
    if (bits === undefined) trusted.addAddress(address, family)
    else trusted.addSubnet(address, Number(bits), family)
  }
  return ({ headers, socket }) => {
    const forwarded = String(headers['x-forwarded-for'] ?? '').split(',').map((address) => address.trim())
    let address = socket.remoteAddress ?? ''
    while (isIP(address) !== 0 && trusted.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')) {
      const next = forwarded.pop()
      if (next === undefined || next === '') break
      address = next
    }
    return address
  }
}
