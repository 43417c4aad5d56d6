import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Locator } from 'playwright-core'
import { browserTest, expectGoodPage, openPage } from '../support/browser/browserTest'
import { register, useProduct } from '../support/browser/startProduct'
import { codeOf } from '../support/platform/registerAccount'

const ann = { username: 'ann', password: 'correct horse battery' }
const product = useProduct()

browserTest(
  'a new user registers with the printed invite code, sees the sample Online and stays signed in across restarts',
  async () => {
    const { page, context, errors } = await openPage(product().url)
    // Disable preloading in idle time.
    await page.addInitScript('window.requestIdleCallback = () => 0')

    // A visitor without a session is redirected to the login page, and the origin is remembered.
    await page.goto('/?from=a-bookmark')
    await page.getByRole('heading', { name: 'Sign In', exact: true }).waitFor()
    await expectGoodPage(page, 'login')
    await page.getByRole('button', { name: 'Forgot your password?' }).click()
    await page.getByRole('dialog').getByText('system administrator').waitFor()
    await expectGoodPage(page, 'forgot-password')
    await page.keyboard.press('Escape')
    await page.getByRole('link', { name: 'Create Account' }).click()
    await page.getByLabel('Invite code').fill('not-a-code')
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByRole('alert').waitFor()
    await expectGoodPage(page, 'register-invite')

    const secret = await register(page, { inviteCode: product().inviteCode!, ...ann })
    await expectGoodPage(page, 'register-done')
    await page.getByRole('link', { name: 'Open Quarterdeck' }).click()
    const card = page.getByRole('link', { name: /-sample/ })
    await card.getByText('Online').waitFor()
    await page.getByText('Live', { exact: true }).waitFor()
    await expectGoodPage(page, 'overview')
    // With the memory of this machine, which has the longest figures.
    await card.getByText(/GiB$/).waitFor()
    const right = async (part: Locator) => part.evaluate((element) => element.getBoundingClientRect().right)
    expect(await right(card.getByText(/GiB$/))).toBeLessThan(await right(card))

    // Sign out, and sign in with the next code, because the last one is used up.
    await page.getByRole('button', { name: 'Logout' }).click()
    await page.getByLabel('Username').fill(ann.username)
    await page.getByLabel('Password', { exact: true }).fill(ann.password)
    await page.getByRole('button', { name: 'Sign In' }).click()
    const code = page.getByLabel('Verification code')
    await code.waitFor()
    await expectGoodPage(page, 'login-code')
    await code.fill('000000')
    await page.getByRole('button', { name: 'Verify Code' }).click()
    await page.getByText('The verification code is incorrect.').waitFor()
    await code.fill(await codeOf(secret, 1))
    await page.getByRole('button', { name: 'Verify Code' }).click()
    await card.getByText('Online').waitFor()
    const id = await card.getByText(/^ID: [0-9a-f]{6}$/).innerText()

    // While the chunk of a page loads, the previous page stays and the header shows its loading line.
    let arrive = () => {}
    const arrived = new Promise<void>((resolve) => (arrive = resolve))
    await page.route(/\/assets\/[^/]*\.js$/, async (route) => {
      await arrived
      await route.continue()
    })
    const waiting = page.locator('html[data-loading] .header')
    await page.getByRole('link', { name: 'Databases' }).click()
    await waiting.waitFor()
    expect(await waiting.evaluate((header) => getComputedStyle(header, '::after').content)).toBe('""')
    await page.getByRole('heading', { name: 'Network Overview', exact: true }).waitFor()
    arrive()
    await page.getByRole('heading', { name: 'Databases', exact: true }).waitFor()
    await waiting.waitFor({ state: 'detached' })
    await page.getByRole('link', { name: 'Overview', exact: true }).click()

    // Ctrl-C and a restart: the same instance, still signed in.
    expect(await product().stop()).toBe(0)
    await page.getByText('Failed', { exact: true }).waitFor()
    await expectGoodPage(page, 'overview-failed')
    await product().restart()
    await page.getByText('Live', { exact: true }).waitFor()
    await page.reload()
    await card.getByText('Online').waitFor()
    expect(await card.getByText(/^ID: [0-9a-f]{6}$/).innerText()).toBe(id)

    await page.goto('/no/such/page')
    await page.getByRole('heading', { name: 'Page Not Found', exact: true }).waitFor()
    await expectGoodPage(page, 'not-found')
    await page
      .getByRole('link', { name: 'Return Home' })
      .or(page.getByRole('button', { name: 'Return Home' }))
      .click()
    await page.getByRole('heading', { name: 'Network Overview', exact: true }).waitFor()

    // The platform is killed: the sample keeps running and is found again.
    await product().kill()
    await page.getByText('Failed', { exact: true }).waitFor()
    await product().restart()
    await card.getByText('Online').waitFor()
    expect(await card.getByText(/^ID: [0-9a-f]{6}$/).innerText()).toBe(id)

    const cookies = await context.cookies()
    expect(cookies.map(({ name }) => name).sort()).toEqual(['isAdmin', 'token'])
    for (const { sameSite, expires } of cookies) {
      expect(sameSite).toBe('Strict')
      expect(expires - Date.now() / 1000).toBeCloseTo(7 * 86_400, -4)
    }
    expect(errors).toEqual([])
  },
)

browserTest(
  'security 57: the page has a content security policy without inline scripts of others or framing',
  async () => {
    const { page } = await openPage(product().url)
    const answer = await page.goto('/login')
    const policy = answer!.headers()['content-security-policy']
    // Those of the page's file, by their hashes.
    expect(policy).toMatch(/script-src 'self'(?: 'sha256-[\w+/]{43}=')+;/)
    expect(policy).toContain("frame-ancestors 'none'")
    expect(
      await page.evaluate(
        'new Promise((done) => { const s = document.createElement("script"); s.textContent = "window.ran = 1"; document.head.append(s); setTimeout(() => done(window.ran ?? 0)) })',
      ),
    ).toBe(0)
  },
)

browserTest('security 60: after sign-in the console follows only paths of its own origin', async () => {
  const { page } = await openPage(product().url)
  await page.goto('/databases?a=1')
  await page.getByRole('heading', { name: 'Sign In', exact: true }).waitFor()
  expect(new URL(page.url()).origin).toBe(product().url)
  await page.goto('//evil.example/x'.replace('//', `${product().url}//`))
  expect(new URL(page.url()).origin).toBe(product().url)
})

browserTest(
  'the login page loads at most 130 kB of scripts and styles (gzip), and only the files listed by the build',
  async () => {
    const size = JSON.parse(readFileSync(join(__dirname, '../../dist/login-page-size.json'), 'utf8')) as {
      total: number
      files: Record<string, number>
      laterTotal: number
      laterFiles: Record<string, number>
      next: Record<string, number>
    }
    expect(size.total).toBeLessThanOrEqual(130_000)
    // Other ways to sign in, which follow the first paint (issue 17.6).
    expect(size.laterTotal).toBeLessThanOrEqual(2000)
    for (const file of Object.keys(size.files).filter((name) => name.startsWith('assets/')))
      expect(readFileSync(join(__dirname, '../../dist/web', file), 'utf8')).not.toMatch(/passkey|webauthn|oidc/i)
    const files = { ...size.files, ...size.laterFiles, ...size.next }
    const { page } = await openPage(product().url)
    const loaded = new Set<string>()
    page.on('response', (response) => {
      const path = new URL(response.url()).pathname
      if (/\.(js|css)$/.test(path) && path.startsWith('/assets/')) loaded.add(path.slice(1))
    })
    await page.goto('/login')
    await page.getByRole('heading', { name: 'Sign In', exact: true }).waitFor()
    await page.waitForLoadState('networkidle')
    expect([...loaded].filter((file) => !(file in files))).toEqual([])
  },
)
