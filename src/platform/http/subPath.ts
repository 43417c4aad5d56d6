import type { IncomingMessage, Server } from 'node:http'

/**
 * Removes the origin and the base path from the URLs of requests and upgrades, so that routes do not need to know them.
 * URLs without the base path keep their path: a reverse proxy may pass it on or remove it. Call this after all other
 * listeners are added, because its own must run first.
 * @param basePath such as `/console`; empty for none
 */
export function removeBasePath(server: Server, basePath: string): void {
  const changeUrl = (request: IncomingMessage) => {
    request.url = withoutBasePath(request.url ?? '', basePath)
  }
  server.prependListener('request', changeUrl)
  server.prependListener('upgrade', changeUrl)
}

/**
 * @param requested in origin-form or absolute-form (RFC 9112 §3.2)
 * @returns the URL without an origin, and without the base path if it is below it
 */
export function withoutBasePath(requested: string, basePath: string): string {
  const origin = /^https?:\/\/[^/?#]*/i.exec(requested)?.[0] ?? ''
  const url = requested.slice(origin.length)
  const isBelow = basePath !== '' && url.startsWith(basePath) && /^(?:[/?]|$)/.test(url.slice(basePath.length))
  const rest = isBelow ? url.slice(basePath.length) : url
  // An origin may be followed by no path, which means `/`.
  return (isBelow || origin) && !rest.startsWith('/') ? `/${rest}` : rest
}
