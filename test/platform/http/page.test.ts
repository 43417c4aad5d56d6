import { mkdirSync, writeFileSync } from 'node:fs'
import fastify from 'fastify'
import { pageRoutes } from '../../../src/platform/http/page'
import { useTemporaryDirectory } from '../../support/platform/temporaryDirectory'

const directory = useTemporaryDirectory()

async function served(url: string) {
  mkdirSync(directory(), { recursive: true })
  writeFileSync(`${directory()}/index.html`, '<title>the console</title>')
  const app = fastify()
  await pageRoutes(app, directory())
  const { statusCode, headers, body } = await app.inject(url)
  await app.close()
  return { statusCode, policy: String(headers['content-security-policy'] ?? ''), cache: headers['cache-control'], isPage: body.includes('the console') }
}

test.each(['/', '/files/world', '/files/world/server.properties?sort=name', '/nothing', '/apix', '/api-docs', '/socketio'])('security 57: every address of the page has its policy: %s', async (url) => {
  expect(await served(url)).toMatchObject({ statusCode: 200, isPage: true, policy: expect.stringContaining("frame-ancestors 'none'") as string })
})

test.each(['/api', '/api/none', '/api?x=1', '/api/?x'])('an unknown call is no page, and is not stored: %s', async (url) => {
  expect(await served(url)).toEqual({ statusCode: 404, isPage: false, policy: '', cache: 'no-store' })
})

test.each(['/assets/none.js', '/assets/..%2findex.html', '/assets/', '/socket.io', '/socket.io?x'])('a file that is not there is no page: %s', async (url) => {
  expect(await served(url)).toMatchObject({ statusCode: 404, isPage: false })
})

test.each(['/metrics', '/metrics?x', '/health', '/healthz', '/readyz', '/livez', '/openapi.json', '/swagger/', '/robots.txt', '/favicon.ico', '/.env', '/x/wp-login.php?a=b'])(
  'what machines look for is no page where it is not there: %s',
  async (url) => {
    expect(await served(url)).toMatchObject({ statusCode: 404, isPage: false })
  },
)

test('what a build adds under a running platform is served: a page that names it is not left blank', async () => {
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
