import { openBrowser, REDIRECT_URI } from '../../../support/platform/openid/openIdBrowser'
import { START, useOpenId } from '../../../support/platform/openid/useOpenId'

const { platform, provider, first, signIn } = useOpenId()

describe('a step', () => {
  beforeAll(() => provider().people.set('ann-1', { preferred_username: 'ann', groups: ['staff'] }))

  test('security 76: can be used once, for ten minutes, and only in its browser', async () => {
    const browser = openBrowser(platform())
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
    const back = await provider().walk(to, 'ann-1')
    const another = openBrowser(platform())
    await another.open(START)
    expect(await another.open(back)).toMatchObject({ to: '/login?sso=expired' })
    const secret = browser.cookies.get('quarterdeck-oidc')!
    expect(await browser.open(back)).toMatchObject({ to: '/' })
    browser.cookies.set('quarterdeck-oidc', secret)
    expect(await browser.open(back)).toMatchObject({ to: '/login?sso=expired' })
    const late = openBrowser(platform())
    const lateBack = await provider().walk((await late.open(START)).to, 'ann-1')
    platform().clock.now += 11 * 60_000
    expect(await late.open(lateBack)).toMatchObject({ to: '/login?sso=expired' })
  })

  test('of several that were begun in tabs of one browser, each can be finished', async () => {
    const browser = openBrowser(platform())
    const backs = []
    for (const page of ['/files', '/databases'])
      backs.push(await provider().walk((await browser.open(`${START}?to=${page}`)).to, 'ann-1'))
    expect(await browser.open(backs[0]!)).toMatchObject({ to: '/files' })
    expect(await browser.open(backs[1]!)).toMatchObject({ to: '/databases' })
    expect(await browser.open(backs[0]!)).toMatchObject({ to: '/login?sso=expired' })
  })

  test.each(['made-up', 'x'.repeat(4000), 'x'.repeat(44), '%00', '"'])(
    'security 76: the cookie of case %#, which is none of the console, is replaced when one begins',
    async (made) => {
      const browser = openBrowser(platform())
      browser.cookies.set('quarterdeck-oidc', made)
      await browser.open(START)
      expect(browser.cookies.get('quarterdeck-oidc')).toMatch(/^[\w-]{43}$/)
      expect(browser.cookies.get('quarterdeck-oidc')).not.toBe(made)
    },
  )

  test('security 76: a code that was used, or of another sign-in, is refused', async () => {
    const browser = openBrowser(platform())
    const back = new URL(await provider().walk((await browser.open(START)).to, 'ann-1'))
    const other = openBrowser(platform())
    const { to } = await other.open(START)
    // The code of the one with the state of the other: its verifier does not match.
    const mixed = new URL(back)
    mixed.searchParams.set('state', new URL(to).searchParams.get('state')!)
    expect(await other.open(mixed.href)).toMatchObject({ to: '/login?sso=refused' })
    expect(other.token()).toBeUndefined()
    expect(await browser.open(back.href)).toMatchObject({ to: '/' })
    const again = openBrowser(platform())
    back.searchParams.set('state', new URL((await again.open(START)).to).searchParams.get('state')!)
    expect(await again.open(back.href)).toMatchObject({ to: '/login?sso=refused' })
  })

  test('a sign-in that the user cancels, or that fails at the provider, ends with a reason in the console’s words and no text of the provider', async () => {
    const state = async (browser: ReturnType<typeof openBrowser>) =>
      new URL((await browser.open(START)).to).searchParams.get('state')!
    const browser = openBrowser(platform())
    const iss = `iss=${encodeURIComponent(provider().issuer)}`
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
    expect(platform().logged.some((line) => line.includes(words))).toBe(true)
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
    const load = (url: string, dest: string) => openBrowser(platform()).open(url, { 'sec-fetch-dest': dest })
    await platform().db.deleteFrom('tries').execute()
    for (let count = 0; count < 201; count += 1)
      expect(await load('/api/auth/oidc/callback?state=any', 'image')).toMatchObject({ to: '/login?sso=expired' })
    for (let count = 0; count < 101; count += 1)
      expect(await load(START, count % 2 === 0 ? 'image' : 'iframe')).toMatchObject({ to: '/login?sso=refused' })
    expect(await platform().db.selectFrom('tries').selectAll().execute()).toEqual([])
    expect((await load(START, 'document')).to).toMatch(`${provider().issuer}/`)
    expect(await platform().signIn(first())).toMatch(/^ey/)
  })

  test('security 83: callbacks of the provider and second steps after a password are limited separately', async () => {
    const browser = openBrowser(platform())
    const ends = []
    for (let count = 0; count < 201; count += 1) {
      browser.cookies.set('quarterdeck-oidc', 'made-up')
      ends.push((await browser.open('/api/auth/oidc/callback?state=any')).to)
    }
    expect(ends.at(0)).toBe('/login?sso=expired')
    expect(ends.at(-1)).toBe('/login?sso=too-many')
    expect(await platform().signIn(first())).toMatch(/^ey/)
  })

  test('security 76: too many from one network are refused', async () => {
    const browser = openBrowser(platform())
    const ends = []
    for (let count = 0; count < 101; count += 1) ends.push((await browser.open(START)).to)
    expect(ends.at(-1)).toBe('/login?sso=too-many')
  })
})
