import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { BrowserContext, Page, Request } from 'playwright-core'
import { browserTest, openPage } from '../support/browser/browserTest'
import { FIRST_USER, signUp, useProduct } from '../support/browser/startProduct'
import { codeOf } from '../support/platform/registerAccount'
import { until } from '../support/platform/until'

const product = useProduct()

/** Holds back the scripts of the console until the returned function is called. */
async function holdScripts(page: Page): Promise<() => void> {
  let release = () => {}
  const released = new Promise<void>((resolve) => (release = resolve))
  await page.route(/\/assets\/.*\.js$/, async (route) => {
    await released
    await route.continue()
  })
  return release
}

const requestsOf = (page: Page) => {
  const paths: string[] = []
  page.on('request', (request) => paths.push(new URL(request.url()).pathname))
  return paths
}

let known: Promise<{ secret: string; cookies: Awaited<ReturnType<BrowserContext['cookies']>> }> | undefined

/** Returns the only user of the product. */
function user() {
  known ??= (async () => {
    const { page, context } = await openPage(product().url)
    return { secret: await signUp(page, product()), cookies: await context.cookies() }
  })()
  return known
}

const signIn = async (page: Page) => page.context().addCookies((await user()).cookies)

/** Requests until the overview shows an instance. */
const OVERVIEW_REQUESTS = 10

/** Follows what the browser requests from the network rather than its cache. */
async function followNetwork(page: Page) {
  const session = await page.context().newCDPSession(page)
  const sent = new Map<string, { path: string; at: number }>()
  session.on('Network.requestWillBeSent', ({ requestId, request, wallTime }) =>
    sent.set(requestId, { path: new URL(request.url).pathname, at: wallTime * 1000 }),
  )
  session.on('Network.webSocketWillSendHandshakeRequest', ({ requestId, wallTime }) =>
    sent.set(requestId, { path: 'WebSocket', at: wallTime * 1000 }),
  )
  session.on('Network.requestServedFromCache', ({ requestId }) => sent.delete(requestId))
  session.on('Network.responseReceived', ({ requestId, response }) => {
    if (response.fromDiskCache || response.fromPrefetchCache) sent.delete(requestId)
  })
  await session.send('Network.enable')
  await page.addInitScript(`
    new MutationObserver((_, observer) => {
      if (!document.querySelector('main [data-row]')) return
      observer.disconnect()
      window.shownAt = Date.now()
    }).observe(document, { childList: true, subtree: true })`)
  return {
    /** The paths of what was sent until the first instance of the overview was shown. @param since milliseconds */
    async untilOverview(since: number): Promise<string[]> {
      await page.locator('main [data-row]').first().waitFor()
      const shownAt = await page.evaluate<number>('window.shownAt')
      return [...sent.values()].filter(({ at }) => at >= since && at <= shownAt).map(({ path }) => path)
    },
  }
}

browserTest('the login form is shown, and takes what is typed, before the console has started', async () => {
  const { page, errors } = await openPage(product().url)
  const paths = requestsOf(page)
  const release = await holdScripts(page)
  await page.goto('/login', { waitUntil: 'commit' })
  const username = page.getByLabel('Username')
  await username.waitFor()
  expect(await username.evaluate((field) => field === document.activeElement)).toBe(true)
  expect(await page.title()).toBe('Sign In · Quarterdeck')
  // The page, the console's entry and the chunk of the page, and the picture in the background.
  expect(paths.length).toBeLessThanOrEqual(4)
  await page.keyboard.type('nobody')
  await page.getByLabel('Password').fill('a wrong password')
  await page.keyboard.press('Enter')
  const sent = page.waitForRequest('**/api/auth/login')
  release()
  expect((await sent).postDataJSON()).toEqual({ username: 'nobody', password: 'a wrong password' })
  await page.getByText('The username or the password is incorrect.').waitFor()
  expect(await username.inputValue()).toBe('nobody')

  // Once the console has started, only Enter and the button send the form.
  await page.getByLabel('Password').fill('another wrong password')
  const again = page.waitForRequest('**/api/auth/login')
  await page.getByRole('button', { name: 'Sign In' }).click()
  expect((await again).postDataJSON()).toEqual({ username: 'nobody', password: 'another wrong password' })
  await page.getByText('The username or the password is incorrect.').waitFor()
  await page.getByLabel('Password').fill('a third one')
  expect(await page.getByRole('button', { name: 'Sign In' }).getAttribute('aria-busy')).toBe('false')
  expect(paths.filter((path) => path === '/api/auth/login')).toHaveLength(2)
  expect(page.url()).toBe(`${product().url}/login`)
  expect(errors).toEqual([])
})

browserTest('the focus stays in the field that the user types in while the console starts', async () => {
  const { page } = await openPage(product().url)
  const release = await holdScripts(page)
  await page.goto('/login', { waitUntil: 'commit' })
  await page.getByLabel('Username').fill('ann')
  await page.getByLabel('Password').focus()
  release()
  // The response to the other ways to sign in arrives when the console has started.
  await page.waitForResponse('**/api/auth/methods')
  await page.keyboard.type('correct horse')
  expect(await page.getByLabel('Password').inputValue()).toBe('correct horse')
  expect(await page.getByLabel('Username').inputValue()).toBe('ann')
})

browserTest('the prerendered login form is not shown where the page looks different', async () => {
  const { page, errors } = await openPage(product().url)
  await holdScripts(page)
  const isEmpty = () => page.locator('#root:empty').waitFor({ state: 'attached' })
  await page.goto('/login?sso=cancelled', { waitUntil: 'commit' })
  await isEmpty()
  await page.context().addCookies([{ name: 'token', value: 'x', url: product().url, sameSite: 'Strict' }])
  await page.goto('/login', { waitUntil: 'commit' })
  await isEmpty()
  expect(errors).toEqual([])
})

browserTest('a page whose entry or font cannot be loaded requests it again, and what was typed is kept', async () => {
  const { page } = await openPage(product().url)
  let requests = 0
  await page.route(/\/assets\/main\..*\.js$/, (route) =>
    requests++ < 2 ? route.abort('connectionreset') : route.continue(),
  )
  let fontRequests = 0
  await page.route(/\/assets\/inter-.*\.woff2$/, (route) =>
    fontRequests++ < 1 ? route.abort('connectionreset') : route.continue(),
  )
  const font = page.waitForResponse('**/assets/inter-*')
  await page.goto('/login')
  await page.getByLabel('Username').fill('ann')
  await page.waitForResponse('**/api/auth/methods')
  expect(requests).toBe(3)
  await font
  expect(fontRequests).toBe(2)
  expect(await page.getByLabel('Username').inputValue()).toBe('ann')

  requests = 0
  await page.goto('/?from=a-bookmark')
  await page.getByRole('heading', { name: 'Sign In', exact: true }).waitFor()
})

/** The paths of the chunks that the file of the overview names. */
function chunksOfOverview(): string[] {
  const html = readFileSync(join(__dirname, '../../dist/web/overview.html'), 'utf8')
  return [...html.matchAll(/rel="preload"[^>]* href="([^"]+)"/g)].map(([, path]) => path!)
}

browserTest(
  'every page names the chunks that it loads, and the browser fetches them in parallel with the entry',
  async () => {
    const { page, errors } = await openPage(product().url)
    await signIn(page)
    const named = chunksOfOverview()
    expect(named.length).toBeGreaterThan(2)
    const release = await holdScripts(page)
    const requests = named.map((path) => page.waitForRequest(`**${path}`))
    await page.goto('/', { waitUntil: 'commit' })
    await Promise.all(requests)
    release()
    await page.getByRole('heading', { name: 'Network Overview', exact: true }).waitFor()
    expect(errors).toEqual([])
  },
)

browserTest('a page requests its first data while its scripts load, and only once', async () => {
  const { page, errors } = await openPage(product().url)
  await signIn(page)
  for (const [address, call] of [
    ['/', '/api/deployments?instances=true'],
    ['/deployments/sample/edit', '/api/deployments/sample'],
    ['/files/sample', '/api/sftp/files?path=%2Fnfsshare%2Fsample'],
    ['/databases', '/api/database/mongo'],
    ['/keys', '/api/keys'],
    ['/security', '/api/account/methods'],
  ] as const) {
    const release = await holdScripts(page)
    const calls: string[] = []
    const count = (request: Request) => {
      // A listing is checked again when the real-time connection is open.
      if (request.headers()['if-none-match'] === undefined) calls.push(request.url().slice(product().url.length))
    }
    page.on('request', count)
    const early = page.waitForRequest(`${product().url}${call}`)
    await page.goto(address, { waitUntil: 'commit' })
    await early
    release()
    // All are taken, or dropped five seconds later and requested again.
    await until(async () => (await page.evaluate<number>('Object.keys(window.firstResponses ?? {}).length')) === 0)
    await page.getByRole('link', { name: 'Overview', exact: true }).waitFor()
    page.off('request', count)
    await page.unroute(/\/assets\/.*\.js$/)
    expect({ address, calls: calls.filter((sent) => sent === call || sent === '/api/account') }).toEqual({
      address,
      calls: ['/api/account', call],
    })
  }
  expect(errors).toEqual([])
})

browserTest('the overview shows its instances after at most ten requests', async () => {
  const { page } = await openPage(product().url)
  await signIn(page)
  const network = await followNetwork(page)
  await page.goto('/', { waitUntil: 'commit' })
  const paths = await network.untilOverview(0)
  expect(paths).toContain('/api/deployments')
  expect(paths.slice(OVERVIEW_REQUESTS)).toEqual([])
})

browserTest(
  'the login page fetches the overview, which then shows its instances after at most ten requests',
  async () => {
    const { page } = await openPage(product().url)
    const { secret } = await user()
    const network = await followNetwork(page)
    const fetched = chunksOfOverview().map((path) =>
      page.waitForEvent('requestfinished', (request) => new URL(request.url()).pathname === path),
    )
    // The last request of the login page, by a chunk that it loads when it is shown.
    const methods = page.waitForResponse('**/api/auth/methods')
    await page.goto('/login')
    await Promise.all([...fetched, methods])
    const since = Date.now()
    await page.getByLabel('Username').fill(FIRST_USER.username)
    await page.getByLabel('Password').fill(FIRST_USER.password)
    await page.getByRole('button', { name: 'Sign In' }).click()
    await page.getByLabel('Verification code').fill(await codeOf(secret, 1))
    await page.getByRole('button', { name: 'Verify Code' }).click()
    const paths = await network.untilOverview(since)
    expect(paths).toContain('/api/auth/verify-login')
    expect(paths.filter((path) => path.startsWith('/assets/'))).toEqual([])
    expect(paths.slice(OVERVIEW_REQUESTS)).toEqual([])
  },
)
