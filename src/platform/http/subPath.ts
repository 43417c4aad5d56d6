import type { IncomingMessage, Server } from 'node:http'

/**
 * Removes the base path from the URLs of requests and upgrades, so that routes do not need to know it. URLs without the
 * base path stay as they are: a reverse proxy may pass it on or remove it. Call this after all other listeners are
 * added, because its own must run first.
 * @param basePath such as `/console`; empty for none
 */
export function removeBasePath(server: Server, basePath: string): void {
  if (basePath === '') return
  const changeUrl = (request: IncomingMessage) => {
    request.url = withoutBasePath(request.url ?? '', basePath)
  }
  server.prependListener('request', changeUrl)
  server.prependListener('upgrade', changeUrl)
}

/** @returns the URL of a request without the base path; unchanged if it is not below the base path */
export function withoutBasePath(url: string, basePath: string): string {
  if (!url.startsWith(basePath)) return url
  const rest = url.slice(basePath.length)
  if (rest.startsWith('/')) return rest
  return rest === '' || rest.startsWith('?') ? `/${rest}` : url
}
