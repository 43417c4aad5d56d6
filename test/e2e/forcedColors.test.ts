import type { ElementHandle, Page } from 'playwright-core'
import { call } from '../support/browser/api'
import { browserTest, openPage } from '../support/browser/browserTest'
import { openEveryPage } from '../support/browser/everyPage'
import { signUp, useProduct } from '../support/browser/startProduct'
import { tabThrough } from '../support/browser/tabThrough'

const product = useProduct()

/** What is opened on a page, so that more of its controls are shown. */
const OPEN: Record<string, (page: Page) => Promise<void>> = {
  '/': async (page) => {
    await page.getByRole('button', { name: 'Select', exact: true }).click()
    await page.getByRole('checkbox').first().check()
  },
  '/deployments': (page) => page.getByRole('button', { name: 'Create Deployment', exact: true }).click(),
  '/admin': (page) => page.getByRole('tab', { name: 'Invite Codes', exact: true }).click(),
  '/keys': (page) => page.getByRole('button', { name: 'Create API key', exact: true }).first().click(),
  '/files/*': (page) =>
    page
      .getByRole('row', { name: /sample\.js/ })
      .getByRole('checkbox')
      .check(),
  '/databases': async (page) => {
    await page
      .getByRole('button', { name: /players/ })
      .first()
      .click()
    await page.getByRole('tab', { name: 'Connection Info', exact: true }).click()
  },
  '/instance/:deploymentName/:instanceUid': (page) => page.getByRole('tab', { name: 'Metrics', exact: true }).click(),
}

/**
 * Everything that is chosen or not, and bars. The row of a chosen file has a checkbox, which tells it. An indeterminate
 * checkbox does not show whether it is checked.
 */
const TELLING = [
  '[aria-pressed]',
  '[aria-checked]',
  '[aria-selected]:not([role=row])',
  'a[aria-current]',
  'input[type=checkbox]:not(:indeterminate)',
  'input[type=radio]',
  '[aria-hidden] > span[style*=width]',
].join()

/** Switches what an element tells, without the page's knowledge. */
const turn = (element: ElementHandle<HTMLElement>) =>
  element.evaluate((node) => {
    if (node instanceof HTMLInputElement) node.checked = !node.checked
    else if (node.style.width) node.style.width = node.style.width === '0%' ? '100%' : '0%'
    else if (node.hasAttribute('aria-current')) {
      node.classList.remove('active')
      node.removeAttribute('aria-current')
    }
    for (const name of ['aria-pressed', 'aria-checked', 'aria-selected'])
      if (node.hasAttribute(name)) node.setAttribute(name, String(node.getAttribute(name) !== 'true'))
  })

/**
 * The part of the page that shows what an element tells; undefined if it is hidden or covered, for example by a dialog.
 */
const placeOf = (element: ElementHandle<HTMLElement>) =>
  element.evaluate((node) => {
    const shown = node.closest('label') ?? (node.matches('span') ? node.parentElement! : node)
    shown.scrollIntoView({ block: 'center' })
    const { x, y, width, height } = shown.getBoundingClientRect()
    const top = document.elementFromPoint(x + width / 2, y + height / 2)
    const isCovered = !shown.contains(top) && !top?.contains(shown)
    // With the lines around it.
    return isCovered
      ? undefined
      : { x: Math.max(0, x - 2), y: Math.max(0, y - 2), width: width + 4, height: height + 4 }
  })

/** What looks the same when it tells the opposite. One of several that have the same classes is enough. */
async function tellsNothing(page: Page): Promise<string[]> {
  const found: string[] = []
  const seen = new Set<string>()
  for (const element of (await page.$$(TELLING)) as ElementHandle<HTMLElement>[]) {
    const kind = await element.evaluate((node) => `${node.outerHTML.split('>')[0]} in ${node.parentElement?.className}`)
    const look = kind.replace(/ (?:id|title|name|style|data-\S+|aria-(?!pressed|checked|selected)\S+)="[^"]*"/g, '')
    if (seen.has(look)) continue
    seen.add(look)
    const clip = await placeOf(element)
    if (!clip) continue
    const before = await page.screenshot({ clip })
    await turn(element)
    if (before.equals(await page.screenshot({ clip }))) found.push(look)
  }
  return found
}

browserTest('forced colours keep selection, progress and focus visible', async () => {
  const { page } = await openPage(product().url)
  await signUp(page, product())
  await call(page, 'POST', '/database/sql', { name: 'players' })
  await call(page, 'POST', '/invite-codes', { message: 'For a friend' })
  const found: string[] = []
  await openEveryPage(page, product(), async (shown, route) => {
    await shown.emulateMedia({ forcedColors: 'active', colorScheme: 'dark' })
    for (const { control, hasRing } of await tabThrough(shown))
      if (!hasRing) found.push(`${route}: no focus ring: ${control}`)
    await OPEN[route]?.(shown)
    for (const look of await tellsNothing(shown)) found.push(`${route}: ${look}`)
  })
  expect(found).toEqual([])
})
