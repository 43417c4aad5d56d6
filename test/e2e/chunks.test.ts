import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { browserTest, expectGoodPage, openPage } from '../support/browser/browserTest'
import { signUpOnPages, useProduct } from '../support/browser/startProduct'
import { until } from '../support/platform/until'

const product = useProduct({ QUARTERDECK_SAMPLE: 'off' })

const broken = 'Something went wrong'
/** The URL path of a lazily loaded chunk. */
const script = /\/assets\/\d+\.[0-9a-f]+\.js$/
const style = /\/assets\/\d+\.[0-9a-f]+\.css$/

const ASSETS = join(__dirname, '../../dist/web/assets')

/** A string from each chunk that is preloaded in idle time after the pages, in any order. */
const LAST = [
  'quarterdeck-action-log-',
  'Repeat new password',
  'sessions-title',
  'problems-title',
  'Total progress',
  'Wrong codes',
  'forgot-title',
]

/** The URL path of the one script that contains each of these strings. */
async function scriptsWith(signs: string[]): Promise<string[]> {
  const scripts = (await readdir(ASSETS)).filter((name) => name.endsWith('.js'))
  const texts = await Promise.all(scripts.map((name) => readFile(join(ASSETS, name), 'utf8')))
  return signs.map((sign) => {
    const holding = scripts.filter((_name, index) => texts[index]!.includes(sign))
    expect({ sign, count: holding.length }).toEqual({ sign, count: 1 })
    return `/assets/${holding[0]}`
  })
}

browserTest('every page opens while the platform is away, and an editor opens when the platform is back', async () => {
  await mkdir(join(product().dataDir, 'nfsshare'), { recursive: true })
  await writeFile(join(product().dataDir, 'nfsshare', 'lobby.yml'), 'motd: Hello\n')
  const { page } = await openPage(product().url)
  const asked = new Set<string>()
  page.on('requestfinished', (request) => asked.add(new URL(request.url()).pathname))
  await signUpOnPages(page, product())
  const last = await scriptsWith(LAST)
  await until(() => last.every((path) => asked.has(path)))
  const scripts = [...asked].filter((path) => path.endsWith('.js')).length

  await page.getByRole('link', { name: 'Files', exact: true }).click()
  const file = page.getByRole('button', { name: 'lobby.yml', exact: true })
  await file.waitFor()
  await product().kill()
  for (const [link, heading] of [
    ['Deployments', 'Deployments'],
    ['Databases', 'Databases'],
    ['Admin', 'Administration'],
    ['Overview', 'Network Overview'],
  ] as const) {
    await page.getByRole('link', { name: link, exact: true }).click()
    await page.getByRole('heading', { name: heading, exact: true }).waitFor()
  }
  await page.getByRole('button', { name: 'Your account' }).click()
  await page.getByRole('menuitem', { name: 'Change password' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
  expect(await page.getByText(broken).count()).toBe(0)
  expect([...asked].filter((path) => path.endsWith('.js')).length).toBe(scripts)

  await product().restart()
  await page.getByRole('link', { name: 'Files', exact: true }).click()
  await file.waitFor()
  // The first request for the editor chunk fails; the chunk is too large to be preloaded.
  let failures = 0
  await page.route(script, (route) => (failures++ === 0 ? route.abort() : route.continue()))
  await file.click()
  await page.locator('.ace_text-input').waitFor({ state: 'attached' })
  expect(failures).toBeGreaterThan(1)
  await page.unroute(script)
  expect(await page.getByText(broken).count()).toBe(0)

  // After a reload the editor chunk is requested again, but the build has been replaced.
  asked.clear()
  await page.reload()
  await file.waitFor()
  await until(() => last.every((path) => asked.has(path)))
  await page.route(script, (route) => route.fulfill({ status: 404 }))
  await file.click()
  await page.getByText('A new version is ready').waitFor()
  expect(await page.getByText(broken).count()).toBe(0)
  await expectGoodPage(page, 'new-version')
  await page.unroute(script)
  await page.getByRole('button', { name: 'Reload' }).click()
  await page.getByText('A new version is ready').waitFor({ state: 'detached' })
  await file.click()
  await page.locator('.ace_text-input').waitFor({ state: 'attached' })
})

// Whether the login page had loaded its other ways to sign in, which load the dialog, when the platform went away.
for (const [state, prepare] of [
  ['still loading', (page: Page) => page.route(style, (route) => route.abort())],
  ['shown', () => undefined],
] as const) {
  browserTest(`lazy parts of a login page that was ${state} load once the platform is back`, async () => {
    const { page } = await openPage(product().url)
    await prepare(page)
    await page.goto('/login')
    const forgot = page.getByRole('button', { name: 'Forgot your password?' })
    await forgot.waitFor()
    if (state === 'shown') await page.waitForLoadState('networkidle')
    const [registerScript] = await scriptsWith(['registration failed please'])
    const failed = new Set<string>()
    page.on('requestfailed', (request) => failed.add(new URL(request.url()).pathname))
    await product().kill()
    await page.unroute(style)
    await forgot.click()
    await until(() => failed.size > 0)
    await page.getByRole('link', { name: 'Create Account' }).click()
    await until(() => failed.has(registerScript!))
    expect(await page.getByText(broken).count()).toBe(0)
    await product().restart()
    await page.getByLabel('Invite code').waitFor()
    // The dialog requested earlier is open on the previous page.
    await page.goBack()
    await page.getByRole('dialog').waitFor()
  })
}
