import type { IncomingMessage, Server } from 'node:http'

/**
 * Serves what is asked for below a path as if it were asked for at the root. A proxy may thus pass the path on or remove
 * it. Call it when all other listeners for requests and upgrades are added: it has to be the first.
 * @param basePath such as `/console`; empty for none
 */
export function serveBelow(server: Server, basePath: string): void {
  if (basePath === '') return
  const removePath = (request: IncomingMessage) => {
    request.url = withoutBasePath(request.url ?? '', basePath)
  }
  server.prependListener('request', removePath)
  server.prependListener('upgrade', removePath)
}

/** @returns the URL of a request without the path that it begins with; unchanged if it begins otherwise */
export function withoutBasePath(url: string, basePath: string): string {
  if (!url.startsWith(basePath)) return url
  const rest = url.slice(basePath.length)
  if (rest.startsWith('/')) return rest
  return rest === '' || rest.startsWith('?') ? `/${rest}` : url
}
