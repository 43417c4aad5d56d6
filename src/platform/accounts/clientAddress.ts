import type { IncomingMessage } from 'node:http'
import { BlockList, isIP, SocketAddress } from 'node:net'

/** The reverse proxies whose word about the client's address is believed. */
export interface TrustedProxies {
  /** Whether a connection from this address is one of theirs. */
  includes: (address: string | undefined) => boolean
  /** Whether the word of an address about who is behind it is believed: of the connection's own (hop 0), or of one that a proxy named. */
  believes: (address: string | undefined, hop: number) => boolean
  /** The client's address, as Fastify's `request.ip` has it for calls: the last one of `X-Forwarded-For` that is not a trusted proxy's own. */
  addressOf(request: IncomingMessage): string
}

/**
 * The one form of an address, as a socket has it. Proxies also write a port, brackets, leading zeros, or IPv4 as IPv6.
 * @returns the text itself when it is no address.
 */
export function plainAddress(text: string): string {
  const [, bracketed, withPort] = /^(?:\[(.*)\](?::\d+)?|([\d.]+):\d+)$/.exec(text) ?? []
  const [address = ''] = (bracketed ?? withPort ?? text).split('%')
  const family = isIP(address)
  if (family === 0) return text
  const plain = new SocketAddress({ address, family: family === 6 ? 'ipv6' : 'ipv4' }).address
  return /^::ffff:([\d.]+)$/.exec(plain)?.[1] ?? plain
}

/**
 * @param proxies addresses or networks, as the settings have checked them.
 * @param mayBeInstance whether instances may connect to a proxy from an address: who has it is a client, whatever else the header says.
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
    const address = plainAddress(text ?? '')
    return isIP(address) !== 0 && trusted.check(address, familyOf(address))
  }
  const believes: TrustedProxies['believes'] = (address, hop) =>
    includes(address) && (hop === 0 || address === undefined || !mayBeInstance(plainAddress(address)))
  return {
    includes,
    believes,
    addressOf({ headers, socket }) {
      const forwarded = String(headers['x-forwarded-for'] ?? '')
        .split(',')
        .map((address) => address.trim())
      let address = socket.remoteAddress ?? ''
      for (let hop = 0; believes(address, hop); hop++) {
        const next = forwarded.pop()
        if (next === undefined || next === '') break
        address = next
      }
      return plainAddress(address)
    },
  }
}
