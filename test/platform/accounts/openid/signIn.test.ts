import { startIdentityProvider, type IdentityProvider } from '../../../support/platform/openid/identityProvider'
import { openBrowser, openIdEnvironment, REDIRECT_URI } from '../../../support/platform/openid/openIdBrowser'
import { startPlatform, type Account, type TestPlatform } from '../../../support/platform/startPlatform'

let provider: IdentityProvider
let platform: TestPlatform
let first: Account

beforeAll(async () => {
  provider = await startIdentityProvider([REDIRECT_URI])
  platform = await startPlatform({ environment: openIdEnvironment(provider.issuer) })
  first = await platform.register('first')
})
afterAll(async () => {
  await platform.close()
  await provider.close()
})

const START = '/api/auth/oidc/start'

/** The whole walk of a browser. @returns where it ends, and the session's token */
async function signIn(login: string, start = START, browser = openBrowser(platform)) {
  const { to } = await browser.open(start)
  const { to: end, status, set } = await browser.open(await provider.walk(to, login))
  return { browser, end, status, set, token: browser.token() }
}
const accountOf = async (token: string | undefined, at = platform) =>
  (await at.call('GET', '/api/account', { token: token ?? '' })).body.data
const usersOf = async () =>
  (await platform.call('GET', '/api/users', { token: first.token })).body.data.users as {
    id: number
    username: string
    role: string
    sign_in?: string[]
  }[]
const activities = async () => (await platform.activityLog.list({})).entries

describe('a first sign-in', () => {
  test('creates an account with the mapped role, sets the cookies of the console and opens the requested page', async () => {
    provider.people.set('ann-1', { preferred_username: 'ann', groups: ['staff', 'others'] })
    const { end, status, set, token } = await signIn('ann-1', `${START}?to=/files/a%20b%3Fsort=size`)
    expect({ end, status }).toEqual({ end: '/files/a%20b?sort=size', status: 302 })
    expect(set).toEqual([
      expect.stringMatching(/^quarterdeck-oidc=; Max-Age=0; Path=\/api\/auth\/oidc; HttpOnly; SameSite=Lax$/),
      expect.stringMatching(/^token=ey[\w.-]+; Max-Age=604800; Path=\/; SameSite=Strict$/),
      'isAdmin=0; Max-Age=604800; Path=/; SameSite=Strict',
    ])
    expect(await accountOf(token)).toMatchObject({ username: 'ann', role: 'operator' })
    expect((await activities()).slice(0, 2)).toMatchObject([
      { username: 'ann', kind: 'session', action: 'signed in by Harbour', address: '127.0.0.1', succeeded: true },
      { username: 'ann', kind: 'user', action: 'registered by Harbour with the role', subject: 'operator' },
    ])
  })

  test('issue 17.7: is reported to the next session as the last sign-in', async () => {
    provider.people.set('lena', { preferred_username: 'lena', groups: ['staff'] })
    const since = Date.now()
    const account = await accountOf((await signIn('lena')).token)
    expect(account).toMatchObject({ username: 'lena' })
    expect(account).not.toHaveProperty('previous_sign_in')
    const until = Date.now()
    const { previous_sign_in: previous } = (await accountOf((await signIn('lena')).token)) as {
      previous_sign_in?: { at: string; address: string }
    }
    expect(previous).toEqual({ at: expect.any(String), address: '127.0.0.1' })
    expect(Date.parse(previous!.at)).toBeGreaterThanOrEqual(since - 1)
    expect(Date.parse(previous!.at)).toBeLessThanOrEqual(until)
  })

  test('is followed by a second one that finds the account, even if the username at the provider has changed', async () => {
    provider.people.set('ann-1', { preferred_username: 'anna', groups: ['staff'] })
    const before = await usersOf()
    const { token } = await signIn('ann-1')
    expect(await accountOf(token)).toMatchObject({ username: 'ann' })
    expect(await usersOf()).toHaveLength(before.length)
  })

  test.each([
    [{ preferred_username: 'Bärbel O’Neill', groups: ['staff'] }, 'Barbel-O-Neill'],
    [{ email: 'carl.c@games.example', groups: 'staff' }, 'carl.c'],
    [{ preferred_username: 'li', groups: ['staff'] }, 'li-user'],
    [{ preferred_username: 'x'.repeat(50), groups: ['staff'] }, 'x'.repeat(32)],
    [{ preferred_username: '北京', email: 7, groups: ['staff'] }, expect.stringMatching(/^user-[0-9a-f]{10}$/)],
  ])('the name of %j follows the rules of usernames', async (claims, username) => {
    provider.people.set(JSON.stringify(username), claims)
    const { token } = await signIn(JSON.stringify(username))
    expect(await accountOf(token)).toMatchObject({ username })
  })

  test('security 72: without a role is refused, and no account is created', async () => {
    for (const groups of [undefined, [], ['other'], [['admins']], { admins: true }, 'ADMINS']) {
      provider.people.set('nobody', { preferred_username: 'nobody', groups })
      expect(await signIn('nobody')).toMatchObject({ end: '/login?sso=no-role', token: undefined })
    }
    expect((await usersOf()).map(({ username }) => username)).not.toContain('nobody')
    expect((await activities())[0]).toMatchObject({
      username: null,
      action: 'failed to sign in by Harbour as',
      subject: 'nobody',
      succeeded: false,
    })
  })

  test('security 73: with a name that is taken, in upper or lower case, is not connected to that account silently', async () => {
    provider.people.set('thief', { preferred_username: 'FIRST', groups: ['admins'] })
    expect(await signIn('thief')).toMatchObject({ end: '/login?sso=name-taken', token: undefined })
    expect(await platform.signIn(first)).toMatch(/^ey/)
  })

  test('and a concurrent one create one account', async () => {
    provider.people.set('twin', { preferred_username: 'twin', groups: ['staff'] })
    const walks = await Promise.all([signIn('twin'), signIn('twin')])
    expect(walks.map(({ end }) => end)).toEqual(['/', '/'])
    expect((await usersOf()).filter(({ username }) => username.startsWith('twin'))).toHaveLength(1)
  })
})

describe('roles', () => {
  /** Signs in as a person with these groups at the provider. */
  const signInWith = (login: string, groups: string[]) => {
    provider.people.set(login, { preferred_username: login, groups })
    return signIn(login)
  }

  test('another role at the provider takes effect at the next sign-in, for open sessions too', async () => {
    const earlier = await signInWith('rita', ['staff', 'admins'])
    expect(earlier.set).toContainEqual(expect.stringMatching(/^isAdmin=1/))
    expect(await accountOf(earlier.token)).toMatchObject({ role: 'administrator' })
    const change = jest.fn()
    const stop = platform.callers.onChange(change)
    const { token } = await signInWith('rita', ['guests'])
    expect(change).toHaveBeenCalled()
    stop()
    expect(await accountOf(token)).toMatchObject({ role: 'limited' })
    expect(await accountOf(earlier.token)).toMatchObject({ role: 'limited' })
    expect((await activities())[1]).toMatchObject({
      username: 'rita',
      action: 'got from Harbour the role',
      subject: 'limited',
    })
  })

  test('grants are kept as long as the role does not change', async () => {
    await signInWith('gail', ['guests'])
    const { id } = (await usersOf()).find(({ username }) => username === 'gail')!
    await platform.call('POST', '/api/deployments', { token: first.token, body: { name: 'mine', type: 'process' } })
    const grants = [{ deployment: 'mine', rights: ['view', 'console'] }]
    const body = { role: 'limited', grants }
    expect((await platform.call('PUT', `/api/users/${id}/access`, { token: first.token, body })).status).toBe(200)
    expect(await accountOf((await signInWith('gail', ['guests'])).token)).toMatchObject({ role: 'limited', grants })
  })

  test('a user who has lost every role is refused, and their open sessions end', async () => {
    const { token } = await signInWith('lost', ['guests'])
    expect(await signInWith('lost', [])).toMatchObject({ end: '/login?sso=no-role', token: undefined })
    expect((await platform.call('GET', '/api/account', { token })).status).toBe(401)
  })

  test('security 74: the last administrator stays one, and is not signed out', async () => {
    const { token } = await signInWith('chief', ['admins'])
    const { id } = (await usersOf()).find(({ username }) => username === 'first')!
    await platform.call('PATCH', `/api/users/${id}/admin`, { token, body: { is_admin: false } })
    for (const groups of [['guests'], ['staff']])
      expect(await accountOf((await signInWith('chief', groups)).token)).toMatchObject({ role: 'administrator' })
    expect(await signInWith('chief', [])).toMatchObject({ end: '/login?sso=no-role' })
    expect(await accountOf(token)).toMatchObject({ role: 'administrator' })
    await platform.call('PATCH', `/api/users/${id}/admin`, { token, body: { is_admin: true } })
  })
})

describe.each([
  ['department', (values: string[]) => ({ department: values, groups: ['admins'] })],
  ['realm_access.roles', (values: string[]) => ({ realm_access: { roles: values }, groups: ['admins'] })],
])('with the claim %s for roles', (claim, claimsOf) => {
  let other: TestPlatform

  beforeAll(async () => {
    other = await startPlatform({
      environment: {
        ...openIdEnvironment(provider.issuer),
        QUARTERDECK_OIDC_ROLE_CLAIM: claim,
        QUARTERDECK_OIDC_ROLES: 'chiefs=administrator,crew=operator,*=limited',
      },
    })
    await other.register('first')
  })
  afterAll(() => other.close())

  test.each([
    ['administrator', ['crew', 'chiefs']],
    ['operator', ['crew', 'guests']],
    ['limited', ['guests']],
    ['limited', []],
  ])('the role is %s by the values %j', async (role, values) => {
    provider.people.set('otto', { preferred_username: 'otto', ...claimsOf(values) })
    const { end, token } = await signIn('otto', START, openBrowser(other))
    expect(end).toBe('/')
    expect(await accountOf(token, other)).toMatchObject({ username: 'otto', role })
  })

  test('*=limited also applies to users without the claim', async () => {
    provider.people.set('nora', { preferred_username: 'nora' })
    const { token } = await signIn('nora', START, openBrowser(other))
    expect(await accountOf(token, other)).toMatchObject({ username: 'nora', role: 'limited', grants: [] })
  })
})

describe('an account without a password', () => {
  let token: string

  beforeAll(async () => {
    provider.people.set('pia', { preferred_username: 'pia', groups: ['staff'] })
    token = (await signIn('pia')).token!
  })

  test('security 75: signing in with a password fails as for a wrong password and an unknown user', async () => {
    const attempt = (username: string) =>
      platform.call('POST', '/api/auth/login', { body: { username, password: 'any password' } })
    const [pia, unknown, wrong] = [await attempt('pia'), await attempt('nobody-at-all'), await attempt('first')]
    expect(pia.body).toEqual(unknown.body)
    expect(pia.body).toEqual(wrong.body)
    expect(pia).toMatchObject({ status: 400, body: { code: 'BAD_CREDENTIALS' } })
  })

  test('its password can be neither changed nor set', async () => {
    const change = { password: 'any password', newPassword: 'another one', token: '123456' }
    expect(await platform.call('POST', '/api/auth/change-password', { token, body: change })).toMatchObject({
      status: 409,
      body: { code: 'CONFLICT', message: 'Your account has no password, because it signs in by single sign-on.' },
    })
    const { id } = (await usersOf()).find(({ username }) => username === 'pia')!
    expect(
      await platform.call('PATCH', `/api/users/${id}/password`, {
        token: first.token,
        body: { password: 'long enough' },
      }),
    ).toMatchObject({ status: 409, body: { code: 'CONFLICT' } })
  })

  test('cannot be disconnected from the provider', async () => {
    expect((await platform.call('GET', '/api/account/openid', { token })).body.data).toEqual({
      name: 'Harbour',
      connected: true,
      own: true,
    })
    expect(await platform.call('DELETE', '/api/account/openid', { token })).toMatchObject({
      status: 409,
      body: {
        message:
          'Your account was created by a sign-in with Harbour and has no password, so it cannot be disconnected.',
      },
    })
  })

  test('administrators see that it signs in by the provider alone', async () => {
    const { id } = (await usersOf()).find(({ username }) => username === 'pia')!
    expect((await platform.call('GET', `/api/users/${id}/methods`, { token: first.token })).body.data).toEqual({
      authenticators: [],
      passkeys: [],
      recoveryCodes: 0,
      hasPassword: false,
      singleSignOn: true,
    })
  })

  test('is replaced by a new account at the next sign-in after its deletion', async () => {
    const { id } = (await usersOf()).find(({ username }) => username === 'pia')!
    expect((await platform.call('DELETE', `/api/users/${id}`, { token: first.token })).status).toBe(200)
    expect((await platform.call('GET', '/api/account', { token })).status).toBe(401)
    expect((await accountOf((await signIn('pia')).token)).id).not.toBe(id)
  })
})

describe('connecting an account', () => {
  let ben: Account

  beforeAll(async () => {
    ben = await platform.register('ben')
    provider.people.set('ben-1', { preferred_username: 'ben', groups: [] })
  })

  async function proofOf({ token, password, secret }: Account): Promise<string> {
    const body = { password, code: await platform.nextCode(secret) }
    return String((await platform.call('POST', '/api/account/proof', { token, body })).body.data.proof)
  }
  const begin = async (account: Account) =>
    platform.call('POST', '/api/account/openid', { token: account.token, body: { proof: await proofOf(account) } })
  async function connect(account: Account, login: string, browser = openBrowser(platform)) {
    const answer = await begin(account)
    browser.keep([answer.headers['set-cookie'] as string].flat())
    return browser.open(await provider.walk(String(answer.body.data.url), login))
  }

  test('security 73: its owner connects it, signs in with the provider in the role of the account, and disconnects it', async () => {
    expect(await connect(ben, 'ben-1')).toMatchObject({
      to: '/security',
      set: [expect.stringMatching(/^quarterdeck-oidc=;/)],
    })
    expect((await platform.call('GET', '/api/account/openid', { token: ben.token })).body.data).toEqual({
      name: 'Harbour',
      connected: true,
      own: false,
    })
    expect(await accountOf((await signIn('ben-1')).token)).toMatchObject({ username: 'ben', role: 'operator' })
    expect(await begin(ben)).toMatchObject({ status: 409 })
    expect((await platform.call('DELETE', '/api/account/openid', { token: ben.token })).status).toBe(200)
    expect(await signIn('ben-1')).toMatchObject({ end: '/login?sso=no-role' })
    expect((await platform.call('DELETE', '/api/account/openid', { token: ben.token })).status).toBe(404)
  })

  test('a sign-in with the provider reports the wrong codes since the last sign-in, once', async () => {
    await connect(ben, 'ben-1')
    const { username, password } = ben
    const { body } = await platform.call('POST', '/api/auth/login', { body: { username, password } })
    const { sessionToken } = body.data
    const wrong = { username, token: '000000', sessionToken }
    for (const _try of [1, 2])
      expect((await platform.call('POST', '/api/auth/verify-login', { body: wrong })).body.code).toBe('INVALID_CODE')
    const { browser, set } = await signIn('ben-1')
    expect(set.at(-1)).toMatch(/^wrongCodes=[^;]+; Max-Age=600; Path=\/; SameSite=Strict$/)
    expect(JSON.parse(decodeURIComponent(browser.cookies.get('wrongCodes')!))).toEqual({
      count: 2,
      since: expect.any(Number),
    })
    expect((await signIn('ben-1')).browser.cookies.has('wrongCodes')).toBe(false)
    await platform.call('DELETE', '/api/account/openid', { token: ben.token })
  })

  test('security 80: without the password and a code, a session alone connects nothing', async () => {
    const wanted = (body: object, token = ben.token) => platform.call('POST', '/api/account/openid', { token, body })
    expect(await wanted({})).toMatchObject({ status: 400, body: { code: 'INVALID_INPUT', field: 'proof' } })
    expect(await wanted({ proof: 'made up' })).toMatchObject({ status: 400, body: { code: 'STEP_EXPIRED' } })
    const proof = await proofOf(ben)
    expect(await wanted({ proof }, await platform.signIn(ben))).toMatchObject({ body: { code: 'STEP_EXPIRED' } })
    expect(await wanted({ proof })).toMatchObject({ status: 200 })
    expect(await wanted({ proof })).toMatchObject({ body: { code: 'STEP_EXPIRED' } })
  })

  test('security 73: an identity of another account is refused', async () => {
    expect(await connect(ben, 'ann-1')).toMatchObject({ to: '/security?sso=identity-taken' })
  })

  test('security 76: it ends with the session that began it, and never in another browser', async () => {
    const answer = await begin(ben)
    const back = await provider.walk(String(answer.body.data.url), 'ben-1')
    expect(await openBrowser(platform).open(back)).toMatchObject({ to: '/login?sso=expired' })
    await platform.call('POST', '/api/auth/logout', { token: ben.token })
    const browser = openBrowser(platform)
    browser.keep([answer.headers['set-cookie'] as string].flat())
    expect(await browser.open(back)).toMatchObject({ to: '/login?sso=expired' })
  })
})

describe('a step', () => {
  test('security 76: can be used once, for ten minutes, and only in its browser', async () => {
    const browser = openBrowser(platform)
    const { to, set } = await browser.open(START)
    expect(set).toEqual([
      expect.stringMatching(
        /^quarterdeck-oidc=[\w-]{43}; Max-Age=600; Path=\/api\/auth\/oidc; HttpOnly; SameSite=Lax$/,
      ),
    ])
    expect(Object.fromEntries(new URL(to).searchParams)).toMatchObject({
      response_type: 'code',
      code_challenge_method: 'S256',
      scope: 'openid profile email groups',
      redirect_uri: REDIRECT_URI,
    })
    const back = await provider.walk(to, 'ann-1')
    const another = openBrowser(platform)
    await another.open(START)
    expect(await another.open(back)).toMatchObject({ to: '/login?sso=expired' })
    const secret = browser.cookies.get('quarterdeck-oidc')!
    expect(await browser.open(back)).toMatchObject({ to: '/' })
    browser.cookies.set('quarterdeck-oidc', secret)
    expect(await browser.open(back)).toMatchObject({ to: '/login?sso=expired' })
    const late = openBrowser(platform)
    const lateBack = await provider.walk((await late.open(START)).to, 'ann-1')
    platform.clock.now += 11 * 60_000
    expect(await late.open(lateBack)).toMatchObject({ to: '/login?sso=expired' })
  })

  test('security 76: a code that was used, or of another sign-in, is refused', async () => {
    const browser = openBrowser(platform)
    const back = new URL(await provider.walk((await browser.open(START)).to, 'ann-1'))
    const other = openBrowser(platform)
    const { to } = await other.open(START)
    // The code of the one with the state of the other: its verifier does not match.
    const mixed = new URL(back)
    mixed.searchParams.set('state', new URL(to).searchParams.get('state')!)
    expect(await other.open(mixed.href)).toMatchObject({ to: '/login?sso=refused' })
    expect(other.token()).toBeUndefined()
    expect(await browser.open(back.href)).toMatchObject({ to: '/' })
    const again = openBrowser(platform)
    back.searchParams.set('state', new URL((await again.open(START)).to).searchParams.get('state')!)
    expect(await again.open(back.href)).toMatchObject({ to: '/login?sso=refused' })
  })

  test('a sign-in that the user cancels, or that fails at the provider, ends with a reason of the console and no text of the provider', async () => {
    const state = async (browser: ReturnType<typeof openBrowser>) =>
      new URL((await browser.open(START)).to).searchParams.get('state')!
    const browser = openBrowser(platform)
    const iss = `iss=${encodeURIComponent(provider.issuer)}`
    const callback = (query: string) => browser.open(`/api/auth/oidc/callback?${query}`)
    expect(await callback(`error=access_denied&${iss}&state=${await state(browser)}`)).toMatchObject({
      to: '/login?sso=cancelled',
    })
    const words = '<script>alert(1)</script>'
    expect(
      await callback(
        `error=server_error&error_description=${encodeURIComponent(words)}&${iss}&state=${await state(browser)}`,
      ),
    ).toMatchObject({ to: '/login?sso=refused' })
    expect(platform.logged.some((line) => line.includes(words))).toBe(true)
    for (const query of ['', 'state=', 'code=x', 'state=a&state=b', '%', 'state=%00'])
      expect(await callback(query)).toMatchObject({ to: '/login?sso=expired' })
  })

  test.each([
    ['//evil.example', '/'],
    ['https://evil.example/', '/'],
    ['/\\evil.example', '/'],
    ['/%2e%2e//evil.example', '/'],
    ['javascript:alert(1)', '/'],
    ['/a\r\nset-cookie: x=y', '/'],
    ['/login', '/'],
    ['/databases?type=sql', '/databases?type=sql'],
  ])('security 77: a sign-in that names the page %s opens %s', async (to, end) => {
    expect(await signIn('ann-1', `${START}?to=${encodeURIComponent(to)}`)).toMatchObject({ end })
  })

  test('security 83: requests that another site makes a browser send do not use up the attempts of its network', async () => {
    const load = (url: string, dest: string) => openBrowser(platform).open(url, { 'sec-fetch-dest': dest })
    await platform.db.deleteFrom('tries').execute()
    for (let count = 0; count < 201; count += 1)
      expect(await load('/api/auth/oidc/callback?state=any', 'image')).toMatchObject({ to: '/login?sso=expired' })
    for (let count = 0; count < 101; count += 1)
      expect(await load(START, count % 2 === 0 ? 'image' : 'iframe')).toMatchObject({ to: '/login?sso=refused' })
    expect(await platform.db.selectFrom('tries').selectAll().execute()).toEqual([])
    expect((await load(START, 'document')).to).toMatch(`${provider.issuer}/`)
    expect(await platform.signIn(first)).toMatch(/^ey/)
  })

  test('security 83: callbacks of the provider and second steps after a password are limited separately', async () => {
    const browser = openBrowser(platform)
    const ends = []
    for (let count = 0; count < 201; count += 1) {
      browser.cookies.set('quarterdeck-oidc', 'made-up')
      ends.push((await browser.open('/api/auth/oidc/callback?state=any')).to)
    }
    expect(ends.at(0)).toBe('/login?sso=expired')
    expect(ends.at(-1)).toBe('/login?sso=too-many')
    expect(await platform.signIn(first)).toMatch(/^ey/)
  })

  test('security 76: too many from one network are refused', async () => {
    const browser = openBrowser(platform)
    const ends = []
    for (let count = 0; count < 101; count += 1) ends.push((await browser.open(START)).to)
    expect(ends.at(-1)).toBe('/login?sso=too-many')
  })
})
