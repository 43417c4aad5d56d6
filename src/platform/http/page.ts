import { existsSync } from 'node:fs'
import { join } from 'node:path'
import fastifyStatic from '@fastify/static'
import type { FastifyInstance } from 'fastify'
import { isPageRoute } from '../../contract/pageRoutes'
import { AppError } from '../errors'
import { bodyOf } from './envelope'

/** What the console's page may load and do. Inline styles are what React and the charts set on elements; no inline script. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'self'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "worker-src 'self'",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ')

/** Of a file that a build makes. Its name holds a hash, so it is never another file. */
const ASSET = /^\/(assets\/[\w-][\w.-]*)(?:\?|$)/

const isCall = (url: string) => /^\/api(?:[/?]|$)/.test(url)

/** What a browser shows to people, unlike what a page, a program or a scanner asks for. */
const isForPeople = (accept = '') => /\btext\/html\b/i.test(accept)

/** Without what would make the answer conditional or partial: 304 of a page that is not found would be empty. */
const WHOLE = { etag: false, lastModified: false, acceptRanges: false }

/**
 * Serves the built console: hashed assets for ever, and its one page for every route that it has, so that these can be opened
 * and reloaded. Any other address is 404: for people with the page, which shows its own 'Page Not Found'.
 * @param directory of the build; without it every page says how to make it.
 */
export async function pageRoutes(app: FastifyInstance, directory: string): Promise<void> {
  app.addHook('onSend', async (request, reply) => {
    reply.header('x-content-type-options', 'nosniff')
    reply.header('referrer-policy', 'same-origin')
    reply.header('cross-origin-opener-policy', 'same-origin')
    // By its route: an address may be written in other ways, such as `/%61pi/…`.
    if (isCall(request.routeOptions.url ?? request.url)) reply.header('cache-control', 'no-store')
    else reply.header('content-security-policy', CONTENT_SECURITY_POLICY)
  })
  const isBuilt = existsSync(join(directory, 'index.html'))
  if (isBuilt) {
    await app.register(fastifyStatic, {
      root: directory,
      wildcard: false,
      preCompressed: true,
      index: false,
      cacheControl: false,
      setHeaders(reply, path) {
        const isHashed = path.includes('/assets/')
        reply.header('cache-control', isHashed ? 'public, max-age=31536000, immutable' : 'no-cache')
      },
    })
  }
  app.setNotFoundHandler((request, reply) => {
    // A build under the running platform: its page names files that were not there at the start.
    const [, asset = ''] = ASSET.exec(request.url) ?? []
    const isRead = request.method === 'GET' || request.method === 'HEAD'
    if (isRead && asset && isBuilt && existsSync(join(directory, asset))) return reply.sendFile(asset)
    const { url, headers } = request
    const path = url.split('?', 1)[0] ?? ''
    const isKnown = isPageRoute(path)
    const isPage =
      isRead &&
      (isKnown || (isForPeople(headers.accept) && !isCall(url) && !/^\/(?:socket\.io|assets)(?:\/|$)/.test(path)))
    if (!isPage) return reply.code(404).send(bodyOf(new AppError('NOT_FOUND', 'There is no such call.')))
    if (!isBuilt) return reply.code(503).type('text/plain').send('The console is not built. Run: npm run build\n')
    return isKnown ? reply.sendFile('index.html') : reply.code(404).sendFile('index.html', WHOLE)
  })
}
