import { existsSync } from 'node:fs'
import { join } from 'node:path'
import fastifyStatic from '@fastify/static'
import type { FastifyInstance } from 'fastify'
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

/** Where machines ask for metrics, health and the like: a page with status 200 would tell them that there are some. */
const MACHINE_PATH = /^\/(?:metrics|healthz?|livez?|readyz?|version|openapi|swagger)(?:[/?]|$)/

/** A file by its name (/openapi.json, /robots.txt, /.env), which would have been served if it were there. In /files the console names files of its own. */
const isFile = (url: string) => /^(?!\/files\/)[^?]*\.[A-Za-z0-9]{1,12}(?:\?|$)/.test(url)

const isCall = (url: string) => /^\/api(?:[/?]|$)/.test(url)

/**
 * Serves the built console: hashed assets for ever, and its one page for every path that is not a file, so that the
 * console's own routes can be opened and reloaded.
 * @param directory of the build; without it every page says how to make it.
 */
export async function pageRoutes(app: FastifyInstance, directory: string): Promise<void> {
  app.addHook('onSend', async (request, reply) => {
    reply.header('x-content-type-options', 'nosniff')
    reply.header('referrer-policy', 'same-origin')
    reply.header('cross-origin-opener-policy', 'same-origin')
    if (isCall(request.url)) reply.header('cache-control', 'no-store')
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
    if (request.method === 'GET' && asset && isBuilt && existsSync(join(directory, asset))) return reply.sendFile(asset)
    const { method, url } = request
    const isPage = method === 'GET' && !isCall(url) && !isFile(url) && !MACHINE_PATH.test(url) && !/^\/(?:socket\.io|assets)(?:[/?]|$)/.test(url)
    if (!isPage) return reply.code(404).send(bodyOf(new AppError('NOT_FOUND', 'There is no such call.')))
    if (!isBuilt) return reply.code(503).type('text/plain').send('The console is not built. Run: npm run build\n')
    return reply.sendFile('index.html')
  })
}
