import type { IncomingMessage } from 'node:http'
import { BlockList, isIP, isIPv4, SocketAddress } from 'node:net'
import proxyAddress from '@fastify/proxy-addr'

/** The reverse proxies that are trusted to report the client's address. */
export interface TrustedProxies {
  /** Whether an address belongs to a trusted proxy. */
  includes: (address: string | undefined) => boolean
  /** Whether an address is trusted to report the next hop: the connection's own (hop 0), or a reported one. */
  isTrustedHop: (address: string | undefined, hop: number) => boolean
  /** The client's address, like Fastify's `request.ip`: the last of `X-Forwarded-For` that is no trusted proxy's. */
  addressOf(request: IncomingMessage): string
}

/**
 * Normalizes an address to the form that a socket has. Proxies may add a port, brackets or leading zeros, or write IPv4
 * as IPv6. Returns other text unchanged.
 */
export function plainAddress(text: string): string {
  // The form that it already has, except with leading zeros, which isIPv4 refuses.
  if (isIPv4(text)) return text
  const [, bracketed, withPort] = /^(?:\[(.*)\](?::\d+)?|([\d.]+):\d+)$/.exec(text) ?? []
  const [address = ''] = (bracketed ?? withPort ?? text).split('%')
  const family = isIP(address)
  if (family === 0) return text
  const plain = new SocketAddress({ address, family: family === 6 ? 'ipv6' : 'ipv4' }).address
  return /^::ffff:([\d.]+)$/.exec(plain)?.[1] ?? plain
}

/**
 * Maximum number of proxies in front of the platform. A client within a trusted network may name a thousand, and each
 * of them takes time. The address after the last one counts as the client's.
 */
const MAX_HOPS = 16

/**
 * @param proxies validated addresses or networks
 * @param mayBeInstance whether instances may connect to a proxy from an address; such an address is never a proxy's
 */
export function createTrustedProxies(
  proxies: string[],
  mayBeInstance: (address: string) => boolean = () => false,
): TrustedProxies {
  const trusted = new BlockList()
  const familyOf = (address: string) => (isIP(address) === 6 ? 'ipv6' : 'ipv4')
  for (const proxy of proxies) {
    const [address = '', bits] = proxy.split('/')
    if (bits === undefined) trusted.addAddress(address, familyOf(address))
    else trusted.addSubnet(address, Number(bits), familyOf(address))
  }
  const includes = (text: string | undefined) => {
    if (proxies.length === 0) return false
    const address = plainAddress(text ?? '')
    return isIP(address) !== 0 && trusted.check(address, familyOf(address))
  }
  const isTrustedHop: TrustedProxies['isTrustedHop'] = (address, hop) =>
    hop < MAX_HOPS && includes(address) && (hop === 0 || address === undefined || !mayBeInstance(plainAddress(address)))
  return {
    includes,
    isTrustedHop,
    addressOf: (request) => plainAddress(proxyAddress(request, isTrustedHop)),
  }
}

/** The prefix of NAT64, which gives IPv4 clients an address where a machine has only IPv6 (RFC 6052, RFC 7755). */
const NAT64_PREFIX = '64:ff9b:0:0:0:0'

/**
 * The unit of rate limits: an IPv4 address, or the /64 network of an IPv6 address, which one customer has (RFC 6177).
 * @param text the address in any form that a socket or proxy uses
 */
export function networkOf(text: string): string {
  const address = plainAddress(text)
  if (!address.includes(':') || address.includes('.')) return address
  const groups = groupsOf(address)
  if (groups.slice(0, 6).join(':') !== NAT64_PREFIX) return groups.slice(0, 4).join(':')
  return groups
    .slice(6)
    .map((group) => Number.parseInt(group, 16))
    .map((bits) => `${bits >> 8}.${bits & 255}`)
    .join('.')
}

/** The unit for distributed guessing: of IPv6 the /56 network, which homes often have. Takes a `networkOf`. */
export function wideNetworkOf(network: string): string {
  if (!network.includes(':') || network.includes('.')) return network
  const groups = network.split(':')
  return [...groups.slice(0, 3), (groups[3] ?? '').padStart(4, '0').slice(0, 2)].join(':')
}

/** The eight groups of an IPv6 address without leading zeros. */
export function groupsOf(address: string): string[] {
  const [head = [], tail = []] = address.split('::').map((part) => part.split(':').filter(Boolean))
  const zeros = Array<string>(Math.max(0, 8 - head.length - tail.length)).fill('0')
  return [...head, ...zeros, ...tail]
}
