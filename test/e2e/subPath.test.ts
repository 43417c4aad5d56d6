import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { browserTest, openPage } from '../support/browser/browserTest'
import { startExampleNginx } from '../support/browser/exampleNginx'
import { startPathProxy, type PathProxy } from '../support/browser/pathProxy'
import { register, startProduct, type Product } from '../support/browser/startProduct'
import { hasProgram } from '../support/platform/hasProgram'
import { codeOf } from '../support/platform/registerAccount'

const PATH = '/console'
const ann = { username: 'ann', password: 'correct horse battery' }

let product: Product | undefined
let port = 0
/** A proxy that passes the path on. */
let passing: PathProxy
/** A proxy that removes the path. */
let removing: PathProxy
let secret = ''

beforeAll(async () => {
  passing = await startPathProxy(PATH, () => port, false)
  removing = await startPathProxy(PATH, () => port, true)
  product = await startProduct({ QUARTERDECK_PUBLIC_URL: `${passing.origin}${PATH}/` })
  port = Number(new URL(product.address).port)
})
afterAll(async () => {
  await passing.close()
  await removing.close()
  await product?.close()
})

const line = (page: Page, text: string) =>
  page.getByRole('log', { name: 'Console output' }).getByText(text, { exact: true }).first().waitFor()

/** From the overview to the console of the sample, a command, files up and down, a deep link, and out. */
async function walk(page: Page, origin: string, name: string): Promise<void> {
  const at = (path: string) => page.waitForURL(`${origin}${PATH}${path}`)
  await page.getByText('Live', { exact: true }).waitFor()
  await page.getByRole('link', { name: /-sample/ }).click()
  await page.waitForURL(new RegExp(`^${origin}${PATH}/instance/sample/`))
  await page.getByText('Connected', { exact: true }).waitFor()
  await page.getByLabel('Command', { exact: true }).fill(`hello ${name}`)
  await page.keyboard.press('Enter')
  await line(page, `You said: hello ${name}`)
  await page.reload()
  await line(page, `You said: hello ${name}`)

  await page.getByRole('link', { name: 'Files', exact: true }).click()
  await at('/files')
  // A message of the real-time socket.
  await page.getByText('Synced', { exact: true }).waitFor()
  await page.getByRole('link', { name: 'sample', exact: true }).click()
  await at('/files/sample')
  const file = { name: `${name}.bin`, mimeType: 'application/octet-stream', buffer: Buffer.from(`of ${name}`) }
  await page.getByLabel('Files to upload').setInputFiles(file)
  const actions = page.getByRole('button', { name: `Actions for ${name}.bin` })
  await actions.waitFor()
  expect(await readFile(join(product!.dataDir, `nfsshare/sample/${name}.bin`), 'utf8')).toBe(`of ${name}`)
  await actions.click()
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('menuitem', { name: 'Download', exact: true }).click(),
  ])
  expect(await readFile(await download.path(), 'utf8')).toBe(`of ${name}`)
  expect(download.url()).toMatch(new RegExp(`^${origin}${PATH}/api/sftp/download\\?`))

  // The editor's chunks, workers and modes.
  await page.reload()
  await page.getByRole('button', { name: 'sample.js', exact: true }).click()
  await page.getByRole('dialog').getByText('createInterface').first().waitFor()
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('dialog').waitFor({ state: 'detached' })

  // Unsaved changes delay the navigation, which then leads to the right page.
  await page.goto(`${origin}${PATH}/deployments/sample/edit`)
  await page.locator('.ace_text-input').focus()
  await page.keyboard.type('# ')
  await page.getByRole('link', { name: 'Overview', exact: true }).click()
  await page.getByRole('button', { name: 'Discard changes' }).click()
  await page.getByRole('heading', { name: 'Network Overview', exact: true }).waitFor()
  expect(new URL(page.url()).pathname).toMatch(/^\/console\/?$/)
}

async function signIn(page: Page, steps: number): Promise<void> {
  await page.getByLabel('Username').fill(ann.username)
  await page.getByLabel('Password', { exact: true }).fill(ann.password)
  await page.getByRole('button', { name: 'Sign In' }).click()
  await page.getByLabel('Verification code').fill(await codeOf(secret, steps))
  await page.getByRole('button', { name: 'Verify Code' }).click()
}

const cookiesOf = async (page: Page) =>
  (await page.context().cookies()).map(({ name, path }) => `${name} ${path}`).sort()

browserTest('the console works below a path that the proxy passes on', async () => {
  const { origin } = passing
  expect(product!.url).toBe(`${origin}${PATH}`)
  const { page, errors } = await openPage(origin)
  secret = await register(page, { link: `${origin}${PATH}/register?invite=${product!.inviteCode}`, ...ann })
  await page.getByRole('link', { name: 'Open Quarterdeck' }).click()
  await walk(page, origin, 'passed')
  expect(await cookiesOf(page)).toEqual([`isAdmin ${PATH}`, `token ${PATH}`])

  await page.getByRole('link', { name: 'Admin', exact: true }).click()
  await page.getByRole('tab', { name: 'Invite Codes' }).click()
  await page.waitForURL(`${origin}${PATH}/admin**`)
  await page.getByRole('button', { name: 'Logout' }).click()
  await page.waitForURL(`${origin}${PATH}/login`)
  expect(await cookiesOf(page)).toEqual([])
  expect({ errors, strays: passing.strays }).toEqual({ errors: [], strays: [] })
})

browserTest('the console works below a path that the proxy removes', async () => {
  const { origin } = removing
  const { page, errors } = await openPage(origin)
  // A deep link asks for the session, and is opened after it.
  await page.goto(`${origin}${PATH}/files/sample?sort=name`)
  await page.waitForURL(`${origin}${PATH}/login`)
  await signIn(page, 1)
  await page.waitForURL(`${origin}${PATH}/files/sample?sort=name`)
  await page.getByRole('link', { name: 'Overview', exact: true }).click()
  await walk(page, origin, 'removed')
  await page.goto(`${origin}${PATH}/no/such/page`)
  await page.getByRole('heading', { name: 'Page Not Found', exact: true }).waitFor()
  expect({ errors, strays: removing.strays }).toEqual({ errors: [], strays: [] })
})

const nginxTest = hasProgram('nginx') ? browserTest : test.skip
nginxTest('the console works below a path of nginx, as the example configures it (skipped without nginx)', async () => {
  const nginx = await startExampleNginx(PATH, port)
  try {
    const { origin } = nginx
    const { page, errors } = await openPage(origin)
    await page.goto(`${origin}${PATH}`)
    await page.waitForURL(`${origin}${PATH}/login`)
    // The code of the last sign-in counts once.
    await product!.passTime(30_000)
    await signIn(page, 2)
    await walk(page, origin, 'nginx')
    expect({ errors, strays: nginx.strays }).toEqual({ errors: [], strays: [] })
  } finally {
    await nginx.close()
  }
})

browserTest('a browser that bypasses the proxy is redirected below the path', async () => {
  const address = product!.address
  const { page, errors } = await openPage(address)
  await page.goto(`${address}/files/sample?sort=name`)
  await page.getByRole('heading', { name: 'Sign In', exact: true }).waitFor()
  expect(page.url()).toBe(`${address}${PATH}/login`)
  expect(errors).toEqual([])
})
