import type { ServerResponse } from 'node:http'
import { startHostileProvider, type HostileProvider } from '../../../support/platform/openid/hostileProvider'
import { startIdentityProvider, type IdentityProvider } from '../../../support/platform/openid/identityProvider'
import { openBrowser, openIdEnvironment, REDIRECT_URI } from '../../../support/platform/openid/openIdBrowser'
import { freePort } from '../../../support/platform/freePort'
import { startPlatform, useEmptyPlatform, type TestPlatform } from '../../../support/platform/startPlatform'

const START = '/api/auth/oidc/start'
/** Requests to the provider have a tenth of their time. */
function shortTimeouts() {
  const timeout = AbortSignal.timeout.bind(AbortSignal)
  return jest.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => timeout(ms / 10))
}

const methodsOf = async (platform: TestPlatform) =>
  (await platform.call('GET', '/api/auth/methods')).body.data.openId as { name: string; available: boolean }

const answers: [string, string, (response: ServerResponse) => void][] = [
  ['no JSON', 'refused', (response) => response.setHeader('content-type', 'application/json').end('<html>')],
  ['a page', 'refused', (response) => response.setHeader('content-type', 'text/html').end('<html>')],
  ['null', 'refused', (response) => response.setHeader('content-type', 'application/json').end('null')],
  ['a redirect', 'refused', (response) => response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end()],
  ['a failure', 'refused', (response) => response.writeHead(500).end()],
  ['nothing', 'unavailable', (response) => response.destroy()],
  [
    'without an end',
    'refused',
    (response) => {
      const chunk = Buffer.alloc(2 ** 16, ' ')
      const write = () => {
        while (!response.destroyed && response.write(chunk));
      }
      response.on('error', () => undefined).on('drain', write)
      write()
    },
  ],
]

describe('a provider that breaks the rules', () => {
  let hostile: HostileProvider

  beforeAll(async () => {
    hostile = await startHostileProvider()
  })
  const platform = useEmptyPlatform(() => ({ environment: openIdEnvironment(hostile.issuer) }))
  afterAll(() => hostile.close())
  beforeEach(() => {
    hostile.behaviour = { claims: {}, signature: 'right' }
  })

  /** A sign-in up to its end. @param prepare what the provider does once the browser is there */
  async function attempt(prepare: (nonce: string) => void = () => undefined, parameters = 'code=x') {
    const browser = openBrowser(platform())
    const page = new URL((await browser.open(START)).to)
    hostile.nonce = page.searchParams.get('nonce')!
    prepare(hostile.nonce)
    const { to } = await browser.open(`${REDIRECT_URI}?${parameters}&state=${page.searchParams.get('state')}`)
    return { to, token: browser.token() }
  }

  const seconds = () => Math.floor(Date.now() / 1000)

  // Its keys come first: once they were answered, they are kept for a while.
  describe.each(['/jwks', '/userinfo'] as const)('whose %s', (answersAt) => {
    const refusing = (answer: (response: ServerResponse) => void) =>
      attempt(() =>
        // Without the name in the ID token, the user info is needed.
        Object.assign(hostile.behaviour, { answer, answersAt, claims: { preferred_username: undefined } }),
      )

    test.each(answers)('security 79: answers %s leads to the reason %s', async (_name, reason, answer) => {
      expect(await refusing(answer)).toEqual({ to: `/login?sso=${reason}`, token: undefined })
    })

    test('security 79: hangs is aborted in time', async () => {
      const limits = shortTimeouts()
      expect(await refusing(() => undefined)).toEqual({ to: '/login?sso=unavailable', token: undefined })
      limits.mockRestore()
    })
  })

  test('security 78: signs its user in when its ID token violates no rule', async () => {
    expect(await attempt()).toEqual({ to: '/', token: expect.stringMatching(/^ey/) })
  })

  test.each([
    ['signed by another key', { signature: 'other key' }],
    ['without a signature', { signature: 'none' }],
    ['signed with the client secret', { signature: 'client secret' }],
    ['with another nonce', { claims: { nonce: 'of another sign-in' } }],
    ['without a nonce', { claims: { nonce: undefined } }],
    ['for another client', { claims: { aud: 'another' } }],
    ['for another client too', { claims: { aud: ['quarterdeck', 'another'] } }],
    ['of another issuer', { claims: { iss: 'https://login.example' } }],
    ['that has expired', { claims: { exp: seconds() - 120 } }],
    ['of the future', { claims: { iat: seconds() + 7200, nbf: seconds() + 3600 } }],
    ['without a subject', { claims: { sub: undefined } }],
  ] as const)('security 78: an ID token %s is refused', async (_name, behaviour) => {
    expect(await attempt(() => Object.assign(hostile.behaviour, behaviour))).toEqual({
      to: '/login?sso=refused',
      token: undefined,
    })
  })

  // As a misconfigured provider sends for each of its users whose field is empty.
  test.each([
    ['empty', ''],
    ['blank', ' '],
    ['too long', 'x'.repeat(256)],
    ['without a text that can be stored', 'a\0b'],
    ['the same as another one when it is stored', 'a\ud800b'],
  ])('security 114: an ID token whose subject is %s is refused', async (_name, sub) => {
    const claims = { sub, preferred_username: 'somebody' }
    expect(await attempt(() => Object.assign(hostile.behaviour, { claims }))).toEqual({
      to: '/login?sso=refused',
      token: undefined,
    })
  })

  test.each(answers)(
    'security 79: a token endpoint that answers %s leads to the reason %s',
    async (_name, reason, answer) => {
      expect(await attempt(() => Object.assign(hostile.behaviour, { answer }))).toEqual({
        to: `/login?sso=${reason}`,
        token: undefined,
      })
    },
  )

  test('security 79: claims of a wrong type or size give neither a name nor a role', async () => {
    const claims = {
      preferred_username: { toString: 1 },
      email: ['a@b'],
      groups: ['staff', null, 7, { a: [] }],
      given: 'x'.repeat(100_000),
    }
    expect(await attempt(() => Object.assign(hostile.behaviour, { claims: { ...claims, sub: 'odd' } }))).toMatchObject({
      to: '/',
    })
  })

  test('security 79: a request to a hanging token endpoint is aborted in time', async () => {
    const limits = shortTimeouts()
    expect(await attempt(() => Object.assign(hostile.behaviour, { answer: () => undefined }))).toEqual({
      to: '/login?sso=unavailable',
      token: undefined,
    })
    expect(limits).toHaveBeenCalledWith(5000)
    limits.mockRestore()
  })
})

describe('a provider that does not answer', () => {
  test('security 79: is only logged at the start; password sign-ins work, and the next use asks the provider again', async () => {
    const port = await freePort()
    const platform = await startPlatform({ environment: openIdEnvironment(`http://127.0.0.1:${port}`) })
    expect(await methodsOf(platform)).toEqual({ name: 'Harbour', available: false })
    expect(platform.logged.some((line) => line.includes('the OpenID Connect provider does not answer'))).toBe(true)
    const browser = openBrowser(platform)
    expect(await browser.open(START)).toMatchObject({ to: '/login?sso=unavailable' })
    const ann = await platform.register('ann')
    expect(await platform.signIn(ann)).toMatch(/^ey/)
    const body = { proof: 'any' }
    expect(await platform.call('POST', '/api/account/openid', { token: ann.token, body })).toMatchObject({
      status: 503,
      body: { code: 'UNAVAILABLE' },
    })
    const provider = await startIdentityProvider([REDIRECT_URI], port)
    provider.people.set('bob', { preferred_username: 'bob', groups: ['staff'] })
    const after = jest.spyOn(performance, 'now').mockReturnValue(performance.now() + 6000)
    expect(await methodsOf(platform)).toEqual({ name: 'Harbour', available: true })
    after.mockRestore()
    const back = await provider.walk((await browser.open(START)).to, 'bob')
    // In the middle: it ends before the code is redeemed.
    await provider.close()
    expect(await browser.open(back)).toMatchObject({ to: '/login?sso=unavailable' })
    await platform.close()
  })

  test('and comes back with another key signs its users in at their second try, although its old key was just read', async () => {
    const port = await freePort()
    const platform = await startPlatform({ environment: openIdEnvironment(`http://127.0.0.1:${port}`) })
    const signIn = async (provider: IdentityProvider) => {
      const browser = openBrowser(platform)
      provider.people.set('bob', { preferred_username: 'bob', groups: ['staff'] })
      return (await browser.open(await provider.walk((await browser.open(START)).to, 'bob'))).to
    }
    const first = await startIdentityProvider([REDIRECT_URI], port)
    let ahead = 6000
    const now = performance.now.bind(performance)
    const clock = jest.spyOn(performance, 'now').mockImplementation(() => now() + ahead)
    expect(await signIn(first)).toBe('/')
    await first.close()
    const second = await startIdentityProvider([REDIRECT_URI], port)
    // Reads of the keys are five seconds apart.
    ahead += 6000
    expect(await signIn(second)).toBe('/login?sso=refused')
    expect(await signIn(second)).toBe('/')
    clock.mockRestore()
    await second.close()
    await platform.close()
  })

  test('security 79: or hangs or sends garbage delays neither the start nor the login page', async () => {
    const hostile = await startHostileProvider()
    hostile.behaviour.answer = () => undefined
    const limits = shortTimeouts()
    const platform = await startPlatform({ environment: openIdEnvironment(hostile.issuer) })
    const since = performance.now()
    expect(await methodsOf(platform)).toMatchObject({ available: false })
    expect(performance.now() - since).toBeLessThan(4000)
    limits.mockRestore()
    expect(await openBrowser(platform).open(START)).toMatchObject({ to: '/login?sso=unavailable' })
    hostile.behaviour.answer = (response) =>
      response
        .setHeader('content-type', 'application/json')
        .end(`{"issuer":"https://login.example","authorization_endpoint":"javascript:alert(1)"}`)
    const after = jest.spyOn(performance, 'now').mockReturnValue(performance.now() + 60_000)
    expect(await methodsOf(platform)).toMatchObject({ available: false })
    after.mockRestore()
    await platform.close()
    await hostile.close()
  })
})

test.each([null, 5, 'openid'])('security 79: a provider whose lists are %j signs its users in', async (list) => {
  const hostile = await startHostileProvider()
  hostile.behaviour.metadata = {
    scopes_supported: list,
    token_endpoint_auth_methods_supported: list,
    code_challenge_methods_supported: list,
    response_types_supported: list,
  }
  const platform = await startPlatform({ environment: openIdEnvironment(hostile.issuer) })
  const browser = openBrowser(platform)
  const page = new URL((await browser.open(START)).to, 'http://console')
  hostile.nonce = page.searchParams.get('nonce') ?? ''
  expect(await browser.open(`${REDIRECT_URI}?code=x&state=${page.searchParams.get('state')}`)).toMatchObject({
    to: '/',
  })
  await platform.close()
  await hostile.close()
})

test('behind a proxy with a path, the redirect URI and the cookies have the public address', async () => {
  const hostile = await startHostileProvider()
  const platform = await startPlatform({
    environment: { ...openIdEnvironment(hostile.issuer), QUARTERDECK_PUBLIC_URL: 'https://games.example/console' },
  })
  const browser = openBrowser(platform)
  const { to, set } = await browser.open(`${START}?to=/files`)
  const page = new URL(to)
  expect(page.searchParams.get('redirect_uri')).toBe('https://games.example/console/api/auth/oidc/callback')
  expect(set).toEqual([expect.stringMatching(/; Path=\/console\/api\/auth\/oidc; HttpOnly; Secure; SameSite=Lax$/)])
  hostile.nonce = page.searchParams.get('nonce')!
  const end = await browser.open(`/api/auth/oidc/callback?code=x&state=${page.searchParams.get('state')}`)
  expect(end).toMatchObject({
    to: '/console/files',
    set: expect.arrayContaining([
      expect.stringMatching(/^token=\S+; Max-Age=604800; Path=\/console; Secure; SameSite=Strict$/),
    ]),
  })
  expect(await browser.open('/api/auth/oidc/callback')).toMatchObject({ to: '/console/login?sso=expired' })
  await platform.close()
  await hostile.close()
})

test('a platform without a provider answers that single sign-on is not configured', async () => {
  const platform = await startPlatform()
  const { token } = await platform.register('ann')
  expect(await methodsOf(platform)).toBeUndefined()
  expect(await openBrowser(platform).open(START)).toMatchObject({ to: '/login?sso=not-configured' })
  expect((await platform.call('GET', '/api/account/openid', { token })).body.data).toEqual({
    connected: false,
    own: false,
  })
  for (const method of ['POST', 'DELETE'] as const)
    expect(
      await platform.call(method, '/api/account/openid', {
        token,
        ...(method === 'POST' && { body: { proof: 'any' } }),
      }),
    ).toMatchObject({
      status: 503,
      body: { code: 'NOT_CONFIGURED' },
    })
  await platform.close()
})
