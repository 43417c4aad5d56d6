import { openBrowser, openIdEnvironment } from '../../../support/platform/openid/openIdBrowser'
import { START, useOpenId } from '../../../support/platform/openid/useOpenId'
import { startPlatform, type TestPlatform } from '../../../support/platform/startPlatform'

const { platform, provider, first, signIn, accountOf } = useOpenId()

const usersOf = async () =>
  (await platform().call('GET', '/api/users', { token: first().token })).body.data.users as {
    id: number
    username: string
    role: string
    sign_in?: string[]
  }[]
const activities = async () => (await platform().activityLog.list({})).entries

describe('a first sign-in', () => {
  test('creates an account with the mapped role, sets the cookies of the console and opens the requested page', async () => {
    provider().people.set('ann-1', { preferred_username: 'ann', groups: ['staff', 'others'] })
    const { end, status, set, token } = await signIn('ann-1', `${START}?to=/files/a%20b%3Fsort=size`)
    expect({ end, status }).toEqual({ end: '/files/a%20b?sort=size', status: 302 })
    expect(set).toEqual([
      expect.stringMatching(/^token=ey[\w.-]+; Max-Age=604800; Path=\/; SameSite=Strict$/),
      'isAdmin=0; Max-Age=604800; Path=/; SameSite=Strict',
    ])
    expect(await accountOf(token)).toMatchObject({ username: 'ann', role: 'operator' })
    expect((await activities()).slice(0, 2)).toMatchObject([
      { username: 'ann', kind: 'session', action: 'signed in by Harbour', address: '127.0.0.1', succeeded: true },
      { username: 'ann', kind: 'user', action: 'registered by Harbour with the role', subject: 'operator' },
    ])
  })

  test('is reported to the next session as the last sign-in', async () => {
    provider().people.set('lena', { preferred_username: 'lena', groups: ['staff'] })
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
    provider().people.set('ann-1', { preferred_username: 'anna', groups: ['staff'] })
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
    provider().people.set(JSON.stringify(username), claims)
    const { token } = await signIn(JSON.stringify(username))
    expect(await accountOf(token)).toMatchObject({ username })
  })

  test('security 72: without a role is refused, and no account is created', async () => {
    for (const groups of [undefined, [], ['other'], [['admins']], { admins: true }, 'ADMINS']) {
      provider().people.set('nobody', { preferred_username: 'nobody', groups })
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
    provider().people.set('thief', { preferred_username: 'FIRST', groups: ['admins'] })
    expect(await signIn('thief')).toMatchObject({ end: '/login?sso=name-taken', token: undefined })
    expect(await platform().signIn(first())).toMatch(/^ey/)
  })

  test('and a concurrent one create one account', async () => {
    provider().people.set('twin', { preferred_username: 'twin', groups: ['staff'] })
    const walks = await Promise.all([signIn('twin'), signIn('twin')])
    expect(walks.map(({ end }) => end)).toEqual(['/', '/'])
    expect((await usersOf()).filter(({ username }) => username.startsWith('twin'))).toHaveLength(1)
  })
})

describe('roles', () => {
  /** Signs in as a person with these groups at the provider(). */
  const signInWith = (login: string, groups: string[]) => {
    provider().people.set(login, { preferred_username: login, groups })
    return signIn(login)
  }

  test('another role at the provider takes effect at the next sign-in, for open sessions too', async () => {
    const earlier = await signInWith('rita', ['staff', 'admins'])
    expect(earlier.set).toContainEqual(expect.stringMatching(/^isAdmin=1/))
    expect(await accountOf(earlier.token)).toMatchObject({ role: 'administrator' })
    const change = jest.fn()
    const stop = platform().callers.onChange(change)
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
    await platform().call('POST', '/api/deployments', { token: first().token, body: { name: 'mine', type: 'process' } })
    const grants = [{ deployment: 'mine', rights: ['view', 'console'] }]
    const body = { role: 'limited', grants }
    expect((await platform().call('PUT', `/api/users/${id}/access`, { token: first().token, body })).status).toBe(200)
    expect(await accountOf((await signInWith('gail', ['guests'])).token)).toMatchObject({ role: 'limited', grants })
  })

  test('a user who has lost every role is refused, and their open sessions end', async () => {
    const { token } = await signInWith('lost', ['guests'])
    expect(await signInWith('lost', [])).toMatchObject({ end: '/login?sso=no-role', token: undefined })
    expect((await platform().call('GET', '/api/account', { token })).status).toBe(401)
  })

  test('security 74: the last administrator stays one, and is not signed out', async () => {
    const { token } = await signInWith('chief', ['admins'])
    const { id } = (await usersOf()).find(({ username }) => username === 'first')!
    await platform().call('PATCH', `/api/users/${id}/admin`, { token, body: { is_admin: false } })
    for (const groups of [['guests'], ['staff']])
      expect(await accountOf((await signInWith('chief', groups)).token)).toMatchObject({ role: 'administrator' })
    expect(await signInWith('chief', [])).toMatchObject({ end: '/login?sso=no-role' })
    expect(await accountOf(token)).toMatchObject({ role: 'administrator' })
    await platform().call('PATCH', `/api/users/${id}/admin`, { token, body: { is_admin: true } })
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
        ...openIdEnvironment(provider().issuer),
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
    provider().people.set('otto', { preferred_username: 'otto', ...claimsOf(values) })
    const { end, token } = await signIn('otto', START, openBrowser(other))
    expect(end).toBe('/')
    expect(await accountOf(token, other)).toMatchObject({ username: 'otto', role })
  })

  test('*=limited also applies to users without the claim', async () => {
    provider().people.set('nora', { preferred_username: 'nora' })
    const { token } = await signIn('nora', START, openBrowser(other))
    expect(await accountOf(token, other)).toMatchObject({ username: 'nora', role: 'limited', grants: [] })
  })
})

describe('an account without a password', () => {
  let token: string

  beforeAll(async () => {
    provider().people.set('pia', { preferred_username: 'pia', groups: ['staff'] })
    token = (await signIn('pia')).token!
  })

  test('security 75: signing in with a password fails as for a wrong password and an unknown user', async () => {
    const attempt = (username: string) =>
      platform().call('POST', '/api/auth/login', { body: { username, password: 'any password' } })
    const [pia, unknown, wrong] = [await attempt('pia'), await attempt('nobody-at-all'), await attempt('first')]
    expect(pia.body).toEqual(unknown.body)
    expect(pia.body).toEqual(wrong.body)
    expect(pia).toMatchObject({ status: 400, body: { code: 'BAD_CREDENTIALS' } })
  })

  test('its password can be neither changed nor set', async () => {
    const change = { password: 'any password', newPassword: 'another one', token: '123456' }
    expect(await platform().call('POST', '/api/auth/change-password', { token, body: change })).toMatchObject({
      status: 409,
      body: { code: 'CONFLICT', message: 'Your account has no password, because it signs in by single sign-on.' },
    })
    const { id } = (await usersOf()).find(({ username }) => username === 'pia')!
    expect(
      await platform().call('PATCH', `/api/users/${id}/password`, {
        token: first().token,
        body: { password: 'long enough' },
      }),
    ).toMatchObject({ status: 409, body: { code: 'CONFLICT' } })
  })

  test('cannot be disconnected from the provider', async () => {
    expect((await platform().call('GET', '/api/account/openid', { token })).body.data).toEqual({
      name: 'Harbour',
      connected: true,
      own: true,
    })
    expect(await platform().call('DELETE', '/api/account/openid', { token })).toMatchObject({
      status: 409,
      body: {
        message:
          'Your account was created by a sign-in with Harbour and has no password, so it cannot be disconnected.',
      },
    })
  })

  test('administrators see that it signs in by the provider alone', async () => {
    const { id } = (await usersOf()).find(({ username }) => username === 'pia')!
    expect((await platform().call('GET', `/api/users/${id}/methods`, { token: first().token })).body.data).toEqual({
      authenticators: [],
      passkeys: [],
      recoveryCodes: 0,
      hasPassword: false,
      singleSignOn: true,
    })
  })

  test('is replaced by a new account at the next sign-in after its deletion', async () => {
    const { id } = (await usersOf()).find(({ username }) => username === 'pia')!
    expect((await platform().call('DELETE', `/api/users/${id}`, { token: first().token })).status).toBe(200)
    expect((await platform().call('GET', '/api/account', { token })).status).toBe(401)
    expect((await accountOf((await signIn('pia')).token)).id).not.toBe(id)
  })
})
