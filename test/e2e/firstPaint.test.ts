import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { browserTest, openPage } from '../support/browser/browserTest'
import { signUp, useProduct } from '../support/browser/startProduct'

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

browserTest('the focus stays where somebody types while the console starts', async () => {
  const { page } = await openPage(product().url)
  const release = await holdScripts(page)
  await page.goto('/login', { waitUntil: 'commit' })
  await page.getByLabel('Username').fill('ann')
  await page.getByLabel('Password').focus()
  release()
  // The answer to the other ways to sign in arrives when the console has started.
  await page.waitForResponse('**/api/auth/methods')
  await page.keyboard.type('correct horse')
  expect(await page.getByLabel('Password').inputValue()).toBe('correct horse')
  expect(await page.getByLabel('Username').inputValue()).toBe('ann')
})

browserTest('the login form of the file is not shown where the page looks different', async () => {
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

browserTest('a page whose entry cannot be loaded requests it again, and what was typed is kept', async () => {
  const { page } = await openPage(product().url)
  let requests = 0
  await page.route(/\/assets\/main\..*\.js$/, (route) =>
    requests++ < 2 ? route.abort('connectionreset') : route.continue(),
  )
  await page.goto('/login')
  await page.getByLabel('Username').fill('ann')
  await page.waitForResponse('**/api/auth/methods')
  expect(requests).toBe(3)
  expect(await page.getByLabel('Username').inputValue()).toBe('ann')

  requests = 0
  await page.goto('/?from=a-bookmark')
  await page.getByRole('heading', { name: 'Sign In', exact: true }).waitFor()
})

browserTest('every page names the chunks that it loads, and the browser fetches them beside the entry', async () => {
  const { page, errors } = await openPage(product().url)
  await signUp(page, product())
  const html = readFileSync(join(__dirname, '../../dist/web/overview.html'), 'utf8')
  const named = [...html.matchAll(/rel="preload"[^>]* href="([^"]+)"/g)].map(([, path]) => path!)
  expect(named.length).toBeGreaterThan(2)
  const release = await holdScripts(page)
  const requests = named.map((path) => page.waitForRequest(`**${path}`))
  await page.goto('/', { waitUntil: 'commit' })
  await Promise.all(requests)
  release()
  await page.getByRole('heading', { name: 'Network Overview', exact: true }).waitFor()
  expect(errors).toEqual([])
})
