import { existsSync } from 'node:fs'
import { join } from 'node:path'
import fastifyStatic from '@fastify/static'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { pageOf } from '../../../contract/pageRoutes'
import { AppError } from '../../errors'
import { bodyOf } from '../envelope'
import { matchesETag } from '../etag'
import { createPageFiles, NOTHING_INLINE, type PageFile } from './pageFile'

/** The path of a built asset. Its name contains a hash, so it never changes. */
const ASSET = /^\/(assets\/[\w-][\w.-]*)(?:\?|$)/

const isApiUrl = (url: string) => /^\/api(?:[/?]|$)/.test(url)

/** Whether a browser navigates, rather than a script, a program or a scanner requesting a resource. */
const isNavigation = (accept = '') => /\btext\/html\b/i.test(accept)

/**
 * Serves the built console: immutable hashed assets, and the one page for every known route. For any other address a
 * browser gets the page with status 404, which shows 'Page Not Found'.
 * @param directory the build; if it is missing, every page explains how to make it
 * @param basePath the path of the console's public address, such as `/console`; empty for none
 */
export async function pageRoutes(app: FastifyInstance, directory: string, basePath = ''): Promise<void> {
  app.addHook('onSend', async (request, reply) => {
    reply.header('x-content-type-options', 'nosniff')
    // A client keeps the headers of its cached response, and an unchanged overview should take few bytes.
    if (reply.statusCode !== 304) {
      reply.header('referrer-policy', 'same-origin')
      reply.header('cross-origin-opener-policy', 'same-origin')
    }
    // Checks the route, because a URL can be encoded differently, such as `/%61pi/…`.
    if (isApiUrl(request.routeOptions.url ?? request.url)) reply.header('cache-control', 'no-store')
    else if (!reply.hasHeader('content-security-policy')) reply.header('content-security-policy', NOTHING_INLINE)
  })
  const pages = createPageFiles(directory, basePath)
  const isBuilt = existsSync(join(directory, 'index.html'))
  if (isBuilt) {
    await app.register(fastifyStatic, {
      root: directory,
      wildcard: false,
      preCompressed: true,
      // `sendPage` serves these, with the policy of their inline scripts.
      globIgnore: ['*.html', '*.html.*'],
      index: false,
      cacheControl: false,
      setHeaders(reply, path) {
        const isHashed = path.includes('/assets/')
        reply.header('cache-control', isHashed ? 'public, max-age=31536000, immutable' : 'no-cache')
      },
    })
  }
  app.setNotFoundHandler(async (request, reply) => {
    // A build while the platform runs creates assets that were not registered at its start.
    const [, asset = ''] = ASSET.exec(request.url) ?? []
    const isReadMethod = request.method === 'GET' || request.method === 'HEAD'
    if (isReadMethod && asset && isBuilt && existsSync(join(directory, asset))) return reply.sendFile(asset)
    const { url, headers } = request
    const path = url.split('?', 1)[0] ?? ''
    const pageName = pageOf(path)
    const isPage =
      isReadMethod &&
      (pageName !== undefined ||
        (isNavigation(headers.accept) && !isApiUrl(url) && !/^\/(?:socket\.io|assets)(?:\/|$)/.test(path)))
    if (!isPage) return reply.code(404).send(bodyOf(new AppError('NOT_FOUND', 'There is no such API route.')))
    if (!isBuilt) return reply.code(503).type('text/plain').send('The console is not built. Run: npm run build\n')
    const page = (pageName !== undefined && (await pages(`${pageName}.html`))) || (await pages('index.html'))
    if (!page) return reply.code(503).type('text/plain').send('The console is being built. Reload in a moment.\n')
    return sendPage(request, reply.code(pageName === undefined ? 404 : 200), page)
  })
}

/** Sends a page with its policy, compressed if the client accepts that; with 304 if the client has this version. */
function sendPage(request: FastifyRequest, reply: FastifyReply, page: PageFile): FastifyReply {
  reply
    .header('cache-control', 'no-cache')
    .header('content-security-policy', page.contentSecurityPolicy)
    .header('vary', 'accept-encoding')
    .type('text/html; charset=utf-8')
  // Only for status 200: a 404 must not become a 304.
  if (reply.statusCode === 200) {
    reply.header('etag', page.etag)
    if (matchesETag(request.headers['if-none-match'], page.etag)) return reply.code(304).send()
  }
  if (page.link) reply.header('link', page.link)
  const encoding = (['br', 'gzip'] as const).find((name) => accepts(request.headers['accept-encoding'], name))
  if (encoding) reply.header('content-encoding', encoding)
  const body = encoding ? page.encoded[encoding] : Buffer.from(page.html)
  if (request.method === 'HEAD') return reply.header('content-length', body.length).send()
  return reply.send(body)
}

/** Of an `Accept-Encoding`. Browsers name four encodings, and anybody may send thousands. */
const MAX_ENCODINGS = 20

/** Whether an `Accept-Encoding` names an encoding, and not with the weight 0 (RFC 9110 §12.5.3). */
function accepts(header: string | string[] = '', encoding: string): boolean {
  return String(header)
    .split(',', MAX_ENCODINGS)
    .some((part) => {
      const [name = '', weight = ''] = part.split(';').map((text) => text.trim().toLowerCase())
      return name === encoding && !/^q=0(?:\.0*)?$/.test(weight)
    })
}
