import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { io } from 'socket.io-client'
import WebSocket from 'ws'
import { withoutBasePath } from '../../../src/platform/http/subPath'
import { usePlatform } from '../../support/platform/startPlatform'

const PAGE =
  '<!doctype html><html lang="en"><head><script src="/theme.js"></script><link rel="icon" href="/favicon.svg"><script defer="defer" src="/assets/main.01234567.js"></script></head></html>'
const PAGE_BELOW =
  '<!doctype html><html data-base="/console" lang="en"><head><script src="/console/theme.js"></script><link rel="icon" href="/console/favicon.svg"><script defer="defer" src="/console/assets/main.01234567.js"></script></head></html>'

let webDir: string

beforeAll(async () => {
  webDir = await mkdtemp(join(tmpdir(), 'quarterdeck-web-'))
  await mkdir(join(webDir, 'assets'))
  await writeFile(join(webDir, 'index.html'), PAGE)
  await writeFile(join(webDir, 'theme.js'), 'theme()')
  await writeFile(join(webDir, 'assets/main.01234567.js'), 'main()')
})
const { platform, account: ann } = usePlatform('ann', () => ({
  environment: { QUARTERDECK_PUBLIC_URL: 'https://example.org/console/' },
  overrides: { webDir },
}))
afterAll(() => rm(webDir, { recursive: true }))

let url: string
beforeAll(async () => {
  url = await platform().app.listen({ host: '127.0.0.1', port: 0 })
})

const BROWSER = { accept: 'text/html' }

test.each([
  ['/console', '/'],
  ['/console?x=1', '/?x=1'],
  ['/console/', '/'],
  ['/console/files/a%2Fb?x', '/files/a%2Fb?x'],
  ['/console//example.org', '//example.org'],
  ['/console/console/x', '/console/x'],
  ['/consoles/x', '/consoles/x'],
  ['/Console/x', '/Console/x'],
  ['/api/health', '/api/health'],
  ['', ''],
  ['*', '*'],
  ['http://example.org/console/files/a?x', '/files/a?x'],
  ['HTTPS://example.org:8443/console?x', '/?x'],
  ['http://example.org', '/'],
  ['http://example.org/api/health', '/api/health'],
  ['http://example.org/consoles/x', '/consoles/x'],
])('a request for %s is handled as one for %s', (asked, served) => {
  expect(withoutBasePath(asked, '/console')).toBe(served)
})

test.each(['/console', '/console/', '/console/files/world?x', '/console/login', '/', '/files/world', '/login'])(
  'the page has the base path in the URLs of its files, whether or not the proxy removes the path: %s',
  async (path) => {
    const answer = await fetch(`${url}${path}`, { headers: BROWSER })
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(answer.headers.get('cache-control')).toBe('no-cache')
    expect(answer.headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
    expect(await answer.text()).toBe(PAGE_BELOW)
    const head = await fetch(`${url}${path}`, { method: 'HEAD', headers: BROWSER })
    expect([head.status, await head.text()]).toEqual([200, ''])
  },
)

test.each(['/console/nothing', '/consolex', '/nothing'])(
  '%s is answered with 404, and for browsers with the page',
  async (path) => {
    const answer = await fetch(`${url}${path}`, { headers: BROWSER })
    expect([answer.status, await answer.text()]).toEqual([404, PAGE_BELOW])
    const call = await fetch(`${url}${path}`)
    expect([call.status, await call.json()]).toMatchObject([404, { code: 'NOT_FOUND' }])
  },
)

test.each(['/console', ''])('assets and API calls are served below "%s"', async (base) => {
  expect(await (await fetch(`${url}${base}/assets/main.01234567.js`)).text()).toBe('main()')
  expect(await (await fetch(`${url}${base}/theme.js`)).text()).toBe('theme()')
  expect((await fetch(`${url}${base}/api/health`)).status).toBe(200)
  const headers = { authorization: `Bearer ${ann().token}` }
  const listed = await fetch(`${url}${base}/api/sftp/files?path=/nfsshare`, { headers })
  expect(await listed.json()).toMatchObject({ success: true })
  expect(listed.headers.get('cache-control')).toBe('no-store')
})

test.each(['/console', ''])(
  'sockets of the public origin are accepted below "%s", others are refused',
  async (base) => {
    const realtime = (origin: string) =>
      new Promise<string>((resolve) => {
        const socket = io(url, {
          path: `${base}/socket.io`,
          reconnection: false,
          forceNew: true,
          extraHeaders: { origin, cookie: `token=${ann().token}` },
        })
        const end = (outcome: string) => (socket.close(), resolve(outcome))
        socket.once('message', (message: { id: string }) => end(message.id))
        socket.once('connect_error', () => end('refused'))
      })
    expect(await realtime('https://example.org')).toBe('CLIENT_HANDSHAKE')
    expect(await realtime('https://elsewhere.example')).toBe('refused')

    // The channel of an instance that does not exist is refused with 404, after the origin and the session were
    // checked.
    const console = (origin: string) =>
      new Promise<string>((resolve) => {
        const headers = { origin, cookie: `token=${ann().token}` }
        new WebSocket(`${url.replace('http', 'ws')}${base}/api/logs/none/none`, { headers }).once('error', (error) =>
          resolve(error.message),
        )
      })
    expect(await console('https://example.org')).toContain('404')
    expect(await console('https://elsewhere.example')).toContain('403')
  },
)
