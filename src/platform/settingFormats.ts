import { BlockList, isIP } from 'node:net'
import { pageOf } from '../contract/pageRoutes'

/** Whether a text is a URL with the scheme http or https. */
export function isWebAddress(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)
}

/** Whether a text is an origin with an optional path whose characters need no encoding in URLs or in HTML. */
export function isPublicUrl(text: string): boolean {
  return isWebAddress(text) && text === `${new URL(text).origin}${publicPath(text)}`
}

/**
 * @returns the path of a URL without a trailing slash; empty if it has none, or one with characters that need encoding
 */
export function publicPath(url: string): string {
  return /^https?:\/\/[^/]+((?:\/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)+)$/.exec(url)?.[1] ?? ''
}

/**
 * Whether a path conflicts with the platform's own: a proxy may remove the base path, so both kinds of URL must differ.
 */
export function isOwnPath(path: string): boolean {
  const [first = ''] = path.slice(1).split('/')
  return path !== '' && (/^(?:api|assets|socket\.io)$/i.test(first) || [`/${first}`, path].some(pageOf))
}

/** Whether a text is an origin: scheme, host and port without a path. */
export function isOrigin(text: string): boolean {
  return URL.canParse(text) && new URL(text).origin === text
}

/**
 * Accepts what both Fastify and BlockList accept: an address, or a network with a prefix of at least one bit. A network
 * of IPv6 must not contain all of IPv4, as `::ffff:10.0.0.0/8` does: its prefix counts from the first of 128 bits.
 */
export function isNetwork(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/')
  const family = isIP(address)
  // A zone names an interface of this machine, not a peer.
  if (family === 0 || rest.length > 0 || address.includes('%')) return false
  if (bits === undefined) return true
  if (!/^[1-9]\d{0,2}$/.test(bits) || Number(bits) > (family === 4 ? 32 : 128)) return false
  // Of the IPv4 addresses, which share 96 bits, such a network contains all or none.
  if (family === 4 || Number(bits) > 96) return true
  const network = new BlockList()
  network.addSubnet(address, Number(bits), 'ipv6')
  return !network.check('0.0.0.0', 'ipv4')
}

/**
 * Whether a text is the issuer of an OpenID Connect provider: a URL without a query, with https except on this machine.
 */
export function isIssuer(text: string): boolean {
  if (!isWebAddress(text)) return false
  const { protocol, hostname, search, hash, username, password } = new URL(text)
  if (/[?#]/.test(text) || search + hash + username + password !== '') return false
  return protocol === 'https:' || hostname === 'localhost' || /^(?:127(?:\.\d+){3}|\[::1\])$/.test(hostname)
}
