import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import fastifyStatic from '@fastify/static'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { isPageRoute } from '../../../contract/pageRoutes'
import { AppError } from '../../errors'
import { bodyOf } from '../envelope'

/** React and the charts set inline styles on elements. There are no inline scripts. */
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

/** The path of a built asset. Its name contains a hash, so it never changes. */
const ASSET = /^\/(assets\/[\w-][\w.-]*)(?:\?|$)/

const isApiUrl = (url: string) => /^\/api(?:[/?]|$)/.test(url)

/** Whether a browser navigates, rather than a script, a program or a scanner requesting a resource. */
const isNavigation = (accept = '') => /\btext\/html\b/i.test(accept)

/** Disables conditional and partial responses: a 304 for a page that is not found would be empty. */
const UNCONDITIONAL = { etag: false, lastModified: false, acceptRanges: false }

/**
 * Serves the built console: immutable hashed assets, and the one page for every known route. For any other address a
 * browser gets the page with status 404, which shows 'Page Not Found'.
 * @param directory the build; if it is missing, every page explains how to make it
 * @param basePath the path of the console's public address, such as `/console`; empty for none
 */
export async function pageRoutes(app: FastifyInstance, directory: string, basePath = ''): Promise<void> {
  app.addHook('onSend', async (request, reply) => {
    reply.header('x-content-type-options', 'nosniff')
    reply.header('referrer-policy', 'same-origin')
    reply.header('cross-origin-opener-policy', 'same-origin')
    // By the route, because a URL can be encoded in other ways, such as `/%61pi/…`.
    if (isApiUrl(request.routeOptions.url ?? request.url)) reply.header('cache-control', 'no-store')
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
    // A build while the platform runs creates assets that were not registered at its start.
    const [, asset = ''] = ASSET.exec(request.url) ?? []
    const isRead = request.method === 'GET' || request.method === 'HEAD'
    if (isRead && asset && isBuilt && existsSync(join(directory, asset))) return reply.sendFile(asset)
    const { url, headers } = request
    const path = url.split('?', 1)[0] ?? ''
    const isKnown = isPageRoute(path)
    const isPage =
      isRead &&
      (isKnown || (isNavigation(headers.accept) && !isApiUrl(url) && !/^\/(?:socket\.io|assets)(?:\/|$)/.test(path)))
    if (!isPage) return reply.code(404).send(bodyOf(new AppError('NOT_FOUND', 'There is no such API route.')))
    if (!isBuilt) return reply.code(503).type('text/plain').send('The console is not built. Run: npm run build\n')
    if (basePath !== '')
      return sendPageWithBase(reply.code(isKnown ? 200 : 404), join(directory, 'index.html'), basePath)
    return isKnown ? reply.sendFile('index.html') : reply.code(404).sendFile('index.html', UNCONDITIONAL)
  })
}

/**
 * Sends the page with the base path in the URLs of its files and in `data-base`, where the console reads it. The file is
 * read for each request, because a new build replaces it.
 */
async function sendPageWithBase(reply: FastifyReply, file: string, basePath: string): Promise<FastifyReply> {
  const page = await readFile(file, 'utf8')
  return reply
    .header('cache-control', 'no-cache')
    .type('text/html; charset=utf-8')
    .send(
      page.replaceAll(/(\s(?:src|href)=")\//g, `$1${basePath}/`).replace('<html ', `<html data-base="${basePath}" `),
    )
}
