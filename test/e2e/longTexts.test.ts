import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Locator, Page } from 'playwright-core'
import { call } from '../support/browser/api'
import { browserTest, openPage } from '../support/browser/browserTest'
import { openEveryPage } from '../support/browser/everyPage'
import { overflowOf } from '../support/browser/overflow'
import { register, signUp, useProduct } from '../support/browser/startProduct'

const product = useProduct()

/** A text without a place to break. */
const wide = (length: number) => 'W'.repeat(length)
const RUNNING = 'w'.repeat(40)
const DISABLED = 'v'.repeat(40)

/** Creates the longest names and texts that are allowed. */
async function fill(page: Page): Promise<void> {
  for (const name of [RUNNING, DISABLED]) {
    await call(page, 'POST', '/deployments', { name, type: 'process' })
    const content = `name: ${name}\ntype: process\ndescription: ${wide(200)}\ndataDirectory: /${name}\nrun:\n  command: [sleep, '300']\n`
    await call(page, 'PATCH', `/deployments/${name}`, { content })
  }
  await call(page, 'POST', `/deployments/${RUNNING}/toggle`, { enabled: true })
  await call(page, 'POST', '/invite-codes', { message: wide(500) })
  await call(page, 'POST', '/keys', { name: wide(100), scopes: ['read'] })
  writeFileSync(join(product().dataDir, 'nfsshare/sample', wide(255)), '')
  const invite = (await call(page, 'POST', '/invite-codes', { message: 'for another user' })) as { code: string }
  const other = await openPage(product().url)
  await register(other.page, { inviteCode: invite.code, username: wide(32), password: 'the second secret' })
  await other.context.close()
}

browserTest(
  'the longest names and texts widen no page and no dialog',
  async () => {
    const { page } = await openPage(product().url)
    await signUp(page, product())
    await fill(page)
    const found: string[] = []
    const look = async (shown: Page, route: string) => {
      await shown.waitForLoadState('networkidle')
      for (const width of [360, 768, 1280]) {
        await shown.setViewportSize({ width, height: 900 })
        for (const what of await overflowOf(shown)) found.push(`${route} at ${width}: ${what}`)
      }
    }
    await openEveryPage(page, product(), look)
    await page.goto('/')
    await page.getByRole('link', { name: `-${RUNNING}` }).click()
    await page.getByRole('tab', { name: 'Details' }).click()
    await look(page, 'instance')
    await page.getByRole('link', { name: `Configuration of ${RUNNING}` }).click()
    await page.getByRole('heading', { name: RUNNING, exact: true }).waitFor()
    await look(page, 'configuration')
    await page.goto('/admin')
    await page.getByRole('link', { name: wide(32) }).click()
    await page.getByRole('heading', { name: 'Recent activity' }).waitFor()
    await look(page, 'user')
    expect(found).toEqual([])

    await page.goto('/files/sample')
    await page
      .getByRole('button', { name: wide(255) })
      .last()
      .click()
    await page.getByRole('menuitem', { name: 'Rename' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('heading', { name: `Rename ${wide(255)}` }).waitFor()
    const rightOf = (locator: Locator) => locator.evaluate((element) => element.getBoundingClientRect().right)
    expect(await rightOf(dialog.getByRole('button', { name: 'Close' }))).toBeLessThan(
      await rightOf(dialog.locator('.modal-content')),
    )
  },
  180_000,
)
