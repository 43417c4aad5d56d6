import { openBrowser } from '../../../support/platform/openid/openIdBrowser'
import { START, useOpenId } from '../../../support/platform/openid/useOpenId'
import { useAccount, type Account } from '../../../support/platform/startPlatform'

const { platform, provider, signIn, accountOf } = useOpenId()
const ben = useAccount(platform, 'ben')

describe('connecting an account', () => {
  beforeAll(() => {
    provider().people.set('ben-1', { preferred_username: 'ben', groups: [] })
  })

  async function proofOf({ token, password, secret }: Account): Promise<string> {
    const body = { password, code: await platform().nextCode(secret) }
    return String((await platform().call('POST', '/api/account/proof', { token, body })).body.data.proof)
  }
  const begin = async (account: Account) =>
    platform().call('POST', '/api/account/openid', { token: account.token, body: { proof: await proofOf(account) } })
  async function connect(account: Account, login: string, browser = openBrowser(platform())) {
    const answer = await begin(account)
    browser.keep([answer.headers['set-cookie'] as string].flat())
    return browser.open(await provider().walk(String(answer.body.data.url), login))
  }

  test('security 73: its owner connects it, signs in with the provider in the role of the account, and disconnects it', async () => {
    expect(await connect(ben(), 'ben-1')).toMatchObject({
      to: '/security',
      set: [],
    })
    expect((await platform().call('GET', '/api/account/openid', { token: ben().token })).body.data).toEqual({
      name: 'Harbour',
      connected: true,
      own: false,
    })
    expect(await accountOf((await signIn('ben-1')).token)).toMatchObject({ username: 'ben', role: 'operator' })
    expect(await begin(ben())).toMatchObject({ status: 409 })
    expect((await platform().call('DELETE', '/api/account/openid', { token: ben().token })).status).toBe(200)
    expect(await signIn('ben-1')).toMatchObject({ end: '/login?sso=no-role' })
    expect((await platform().call('DELETE', '/api/account/openid', { token: ben().token })).status).toBe(404)
  })

  test('a request with a Host header that is no host is refused, and is no error in the log', async () => {
    const headers = { host: 'a b' }
    const [{ token }, proof] = [ben(), await proofOf(ben())]
    expect(await platform().call('POST', '/api/account/openid', { token, headers, body: { proof } })).toMatchObject({
      status: 400,
      body: { code: 'INVALID_INPUT', message: expect.stringContaining('Host header') },
    })
    expect(await openBrowser(platform()).open(START, headers)).toMatchObject({ to: '/login?sso=failed' })
    expect(platform().logged.filter((line) => /"level":(?:50|60)/.test(line))).toEqual([])
  })

  test('a sign-in with the provider reports the wrong codes since the last sign-in, once', async () => {
    await connect(ben(), 'ben-1')
    const { username, password } = ben()
    const { body } = await platform().call('POST', '/api/auth/login', { body: { username, password } })
    const { sessionToken } = body.data
    const wrong = { username, token: '000000', sessionToken }
    for (const _try of [1, 2])
      expect((await platform().call('POST', '/api/auth/verify-login', { body: wrong })).body.code).toBe('INVALID_CODE')
    const { browser, set } = await signIn('ben-1')
    expect(set.at(-1)).toMatch(/^wrongCodes=[^;]+; Max-Age=600; Path=\/; SameSite=Strict$/)
    expect(JSON.parse(decodeURIComponent(browser.cookies.get('wrongCodes')!))).toEqual({
      count: 2,
      since: expect.any(Number),
    })
    expect((await signIn('ben-1')).browser.cookies.has('wrongCodes')).toBe(false)
    await platform().call('DELETE', '/api/account/openid', { token: ben().token })
  })

  test('security 80: without the password and a code, a session alone connects nothing', async () => {
    const wanted = (body: object, token = ben().token) =>
      platform().call('POST', '/api/account/openid', { token, body })
    expect(await wanted({})).toMatchObject({ status: 400, body: { code: 'INVALID_INPUT', field: 'proof' } })
    expect(await wanted({ proof: 'made up' })).toMatchObject({ status: 400, body: { code: 'STEP_EXPIRED' } })
    const proof = await proofOf(ben())
    expect(await wanted({ proof }, await platform().signIn(ben()))).toMatchObject({ body: { code: 'STEP_EXPIRED' } })
    expect(await wanted({ proof })).toMatchObject({ status: 200 })
    expect(await wanted({ proof })).toMatchObject({ body: { code: 'STEP_EXPIRED' } })
  })

  test('security 73: an identity of another account is refused', async () => {
    provider().people.set('ann-1', { preferred_username: 'ann', groups: ['staff'] })
    await signIn('ann-1')
    expect(await connect(ben(), 'ann-1')).toMatchObject({ to: '/security?sso=identity-taken' })
  })

  test('security 76: it ends with the session that began it, and never in another browser', async () => {
    const answer = await begin(ben())
    const back = await provider().walk(String(answer.body.data.url), 'ben-1')
    expect(await openBrowser(platform()).open(back)).toMatchObject({ to: '/login?sso=expired' })
    await platform().call('POST', '/api/auth/logout', { token: ben().token })
    const browser = openBrowser(platform())
    browser.keep([answer.headers['set-cookie'] as string].flat())
    expect(await browser.open(back)).toMatchObject({ to: '/login?sso=expired' })
  })
})
