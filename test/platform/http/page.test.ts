import { createHash } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import fastify from 'fastify'
import { answerFailures } from '../../../src/platform/http/envelope'
import { pageRoutes } from '../../../src/platform/http/routes/page'
import { useTemporaryDirectory } from '../../support/platform/temporaryDirectory'

const directory = useTemporaryDirectory()

/** The Accept header of a browser that opens a URL. */
const BROWSER = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' }

async function served(url: string, headers: Record<string, string> = {}) {
  mkdirSync(directory(), { recursive: true })
  writeFileSync(`${directory()}/index.html`, '<title>the console</title>')
  const app = fastify()
  await pageRoutes(app, directory())
  const { statusCode, headers: answered, body } = await app.inject({ url, headers })
  await app.close()
  return {
    statusCode,
    policy: String(answered['content-security-policy'] ?? ''),
    cache: answered['cache-control'],
    isPage: body.includes('the console'),
  }
}

test.each([
  '/',
  '//',
  '/?from=x',
  '/login',
  '/LOGIN/',
  '/login//',
  '/%6cogin',
  '/files',
  '/files/world',
  '/files/world/server.properties?sort=name',
  '/files/.git/config',
  '/files/a%2Fb',
  '/databases',
  '/deployments/lobby/edit',
  '/instance/lobby/0a1b2c-lobby',
])('security 57: every URL of the page has its policy: %s', async (url) => {
  expect(await served(url)).toMatchObject({
    statusCode: 200,
    isPage: true,
    policy: expect.stringContaining("frame-ancestors 'none'") as string,
  })
})

test.each([
  '/nothing',
  '/apix',
  '/api-docs',
  '/socketio',
  '/deployments/lobby',
  '/deployments//edit',
  '/instance/lobby',
  '/loginx',
  '/filesx',
  '/METRICS',
  '/.git/config',
])('§2 an unknown URL gets 404, for browsers with the Not-found page: %s', async (url) => {
  const policy = expect.stringContaining("frame-ancestors 'none'") as string
  expect(await served(url, BROWSER)).toMatchObject({ statusCode: 404, isPage: true, policy })
  expect(await served(url)).toMatchObject({ statusCode: 404, isPage: false, policy })
})

test('a page names the files that it loads first in a Link header, below the base path', async () => {
  mkdirSync(directory(), { recursive: true })
  writeFileSync(
    `${directory()}/index.html`,
    `<html lang="en"><head><script>inline()</script><link rel="icon" href="/favicon.svg">
    <script defer src="/assets/main.01.js"></script><link rel="preload" as="style" href="/assets/2.css">
    <link rel="preload" as="script" href="/assets/2.js"><template><link rel="prefetch" href="/assets/3.js"></template>`,
  )
  const app = fastify()
  await pageRoutes(app, directory(), '/console')
  const { headers } = await app.inject({ url: '/login' })
  expect(headers.link).toBe(
    [
      '</console/assets/main.01.js>; rel=preload; as=script',
      '</console/assets/2.css>; rel=preload; as=style',
      '</console/assets/2.js>; rel=preload; as=script',
    ].join(', '),
  )
  const unchanged = await app.inject({ url: '/login', headers: { 'if-none-match': String(headers.etag) } })
  expect([unchanged.statusCode, unchanged.headers.link]).toEqual([304, undefined])
  await app.close()
})

test('§2 HEAD is answered like GET', async () => {
  mkdirSync(directory(), { recursive: true })
  writeFileSync(`${directory()}/index.html`, '<title>the console</title>')
  const app = fastify()
  await pageRoutes(app, directory())
  const head = async (url: string) => {
    const { statusCode, body } = await app.inject({ method: 'HEAD', url, headers: BROWSER })
    return [statusCode, body]
  }
  expect(await head('/login')).toEqual([200, ''])
  expect(await head('/nothing')).toEqual([404, ''])
  await app.close()
})

test('the Not-found page is complete for a browser that has cached a page of this URL', async () => {
  const modified = new Date(Date.now() + 60_000).toUTCString()
  for (const condition of [
    { 'if-none-match': 'W/"1a-0"' },
    { 'if-modified-since': modified },
    { range: 'bytes=0-1' },
  ] as Record<string, string>[]) {
    expect(await served('/nothing', { ...BROWSER, ...condition })).toMatchObject({ statusCode: 404, isPage: true })
  }
})

test.each(['/api', '/api/none', '/api?x=1', '/api/?x'])(
  'an unknown call gets no page and is not cached: %s',
  async (url) => {
    expect(await served(url)).toEqual({ statusCode: 404, isPage: false, policy: '', cache: 'no-store' })
  },
)

test.each(['/assets/none.js', '/assets/..%2findex.html', '/assets/', '/socket.io', '/socket.io?x'])(
  'a missing file gets no page: %s',
  async (url) => {
    expect(await served(url)).toMatchObject({ statusCode: 404, isPage: false })
    expect(await served(url, BROWSER)).toMatchObject({ statusCode: 404, isPage: false })
  },
)

test.each([
  '/metrics',
  '/metrics?x',
  '/METRICS',
  '/%6detrics',
  '/v1/metrics',
  '/actuator/health',
  '/server-status',
  '/debug/pprof/',
  '/health',
  '/healthz',
  '/readyz',
  '/livez',
  '/openapi.json',
  '/swagger/',
  '/robots.txt',
  '/favicon.ico',
  '/.env',
  '/.git/config',
  '/.well-known/security.txt',
  '/.well-known/acme-challenge/x',
  '/wp-login.php',
  '/x/wp-login.php?a=b',
  '/cgi-bin/',
  '/index.php/login',
  '//login',
])('a URL that scanners probe gets no page: %s', async (url) => {
  expect(await served(url)).toMatchObject({ statusCode: 404, isPage: false })
})

const LOGIN =
  '<style>a{}</style><script>first()</script><div id="root"></div><script>then()</script><script src="/assets/main.js"></script>'

/** Serves a build with a login page of its own. @returns `answer` to a request, and `rebuild` with another page */
async function servedLogin() {
  mkdirSync(directory(), { recursive: true })
  const rebuild = (html: string) => writeFileSync(`${directory()}/login.html`, html)
  writeFileSync(`${directory()}/index.html`, '<title>the console</title>')
  rebuild(LOGIN)
  const app = fastify()
  await pageRoutes(app, directory())
  const answer = (url: string, headers: Record<string, string> = {}) => app.inject({ url, headers })
  return { answer, rebuild, close: () => app.close() }
}

test('security 57: the policy of a page allows its inline scripts and styles by their hashes, and no others', async () => {
  const { answer, close } = await servedLogin()
  const { headers, body } = await answer('/login')
  expect(body).toBe(LOGIN)
  const hashOf = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`
  const policy = String(headers['content-security-policy'])
  expect(policy).toContain(`script-src 'self' ${hashOf('first()')} ${hashOf('then()')};`)
  expect(policy).toContain(`style-src 'self' ${hashOf('a{}')} `)
  expect(policy).not.toContain('unsafe')
  expect((await answer('/')).headers['content-security-policy']).toContain("script-src 'self';")
  expect((await answer('/login.html', BROWSER)).statusCode).toBe(404)
  await close()
})

test.each([
  ['br', 'gzip, deflate, br, zstd', brotliDecompressSync],
  ['gzip', 'gzip, br;q=0', gunzipSync],
] as const)('a page is sent as %s to a client that accepts %s', async (encoding, accepted, decompress) => {
  const { answer, close } = await servedLogin()
  const { headers, rawPayload } = await answer('/login', { 'accept-encoding': accepted })
  expect(headers).toMatchObject({ 'content-encoding': encoding, vary: 'accept-encoding' })
  expect(decompress(rawPayload).toString()).toBe(LOGIN)
  await close()
})

test('security 177: of the encodings that a client accepts, the first twenty count', async () => {
  const { answer, close } = await servedLogin()
  const accepting = (others: number) => answer('/login', { 'accept-encoding': `${'x, '.repeat(others)}br` })
  expect((await accepting(19)).headers).toHaveProperty('content-encoding', 'br')
  expect((await accepting(4000)).headers).not.toHaveProperty('content-encoding')
  await close()
})

test('a page is sent again only after a new build', async () => {
  const { answer, rebuild, close } = await servedLogin()
  const { headers } = await answer('/login')
  const known = { 'if-none-match': String(headers.etag) }
  expect(await answer('/login', known)).toMatchObject({ statusCode: 304, body: '' })
  rebuild('<title>another build</title>')
  expect(await answer('/login', known)).toMatchObject({ statusCode: 200, body: '<title>another build</title>' })
  await close()
})

test('files that a build adds while the platform runs are served to the page that names them', async () => {
  mkdirSync(`${directory()}/assets`, { recursive: true })
  writeFileSync(`${directory()}/index.html`, '<title>the console</title>')
  const app = fastify()
  await pageRoutes(app, directory())
  await app.ready()
  writeFileSync(`${directory()}/assets/main.0123456789.js`, 'later()')
  const { statusCode, headers, body } = await app.inject('/assets/main.0123456789.js')
  expect({ statusCode, body, type: headers['content-type'], cache: headers['cache-control'] }).toEqual({
    statusCode: 200,
    body: 'later()',
    type: expect.stringContaining('javascript') as string,
    cache: 'public, max-age=31536000, immutable',
  })
  await app.close()
})

test.each([
  [416, { range: 'bytes=99999-' }],
  [416, { range: 'bytes=-0' }],
  [409, { 'if-match': '"another"' }],
  [409, { 'if-unmodified-since': 'Mon, 01 Jan 2001 00:00:00 GMT' }],
])(
  'security 103: a range or condition that a file of the page does not meet gets %i, and is not logged as an error',
  async (status, headers) => {
    mkdirSync(`${directory()}/assets`, { recursive: true })
    writeFileSync(`${directory()}/index.html`, '<title>the console</title>')
    writeFileSync(`${directory()}/assets/app-1.js`, 'x')
    const app = fastify()
    answerFailures(app)
    await pageRoutes(app, directory())
    const answer = await app.inject({ url: '/assets/app-1.js', headers })
    await app.close()
    expect(answer.statusCode).toBe(status)
    expect(answer.json()).toMatchObject({ success: false })
    expect(String(answer.headers['cache-control'])).not.toContain('immutable')
  },
)
