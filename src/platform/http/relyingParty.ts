import { isIP } from 'node:net'
import type { FastifyRequest } from 'fastify'
import type { RelyingParty } from '../accounts/passkeys'

/**
 * Returns the console's relying party: that of its public address or, without one, of the page that makes the request.
 * @param publicUrl the configured address
 * @returns undefined if passkeys cannot work there: at an IP address, or without HTTPS at another host than localhost;
 * also if a page of another origin makes the request
 */
export function relyingPartyOf(request: FastifyRequest, publicUrl: string | undefined): RelyingParty | undefined {
  const origin = publicUrl ?? ownOrigin(request)
  if (origin === undefined || !URL.canParse(origin)) return undefined
  const { protocol, hostname, origin: exact } = new URL(origin)
  if (request.headers.origin !== undefined && request.headers.origin !== exact) return undefined
  if (isIP(hostname.replace(/^\[(.*)\]$/, '$1')) !== 0) return undefined
  const isSecure = protocol === 'https:' || hostname === 'localhost' || hostname.endsWith('.localhost')
  return isSecure ? { id: hostname, origin: exact } : undefined
}

/** A browser sends no `Origin` with a GET from the same origin. A sent one must be the host's, as for sockets. */
function ownOrigin({ headers, protocol }: FastifyRequest): string | undefined {
  const { origin, host } = headers
  if (host === undefined) return undefined
  if (origin === undefined) return `${protocol}://${host}`
  return URL.canParse(origin) && new URL(origin).host === host ? origin : undefined
}
