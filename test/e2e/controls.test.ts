import type { Cookie, Page } from 'playwright-core'
import { browserTest, openPage } from '../support/browser/browserTest'
import { signUp, startProduct, type Product } from '../support/browser/startProduct'

let product: Product
let session: Cookie[] | undefined

beforeAll(async () => {
  product = await startProduct()
})
afterAll(() => product.close())

/** Each page with its heading. */
const PAGES = [
  ['/', 'Network Overview'],
  ['/deployments', 'Deployments'],
  ['/deployments/sample/edit', 'sample'],
  ['/files/sample', 'Files'],
  ['/databases', 'Databases'],
  ['/admin', 'Administration'],
  ['/activity', 'Activity'],
  ['/keys', 'API keys'],
  ['/security', 'Sign-in methods'],
] as const

async function signIn(page: Page): Promise<void> {
  if (session) return page.context().addCookies(session)
  await signUp(page, product)
  session = await page.context().cookies()
}

/** A control that is focused by the keyboard, and whether it or what it is a part of shows a ring. */
interface Stop {
  control: string
  hasRing: boolean
}

/** Presses Tab until the focus leaves the page or comes back to the first control. */
async function tabThrough(page: Page): Promise<Stop[]> {
  await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur())
  const stops: Stop[] = []
  for (let presses = 0; presses < 150; presses++) {
    await page.keyboard.press('Tab')
    const stop = await page.evaluate(() => {
      const focused = document.activeElement
      if (!focused || focused === document.body || focused.hasAttribute('data-tabbed')) return undefined
      focused.setAttribute('data-tabbed', '')
      const hasRing = (element: Element | null, levels: number): boolean => {
        if (!element) return false
        const { outlineStyle, outlineWidth, outlineColor } = getComputedStyle(element)
        const isVisible = outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2 && !/, 0\)$/.test(outlineColor)
        return isVisible || (levels > 0 && hasRing(element.parentElement, levels - 1))
      }
      return { control: focused.outerHTML.slice(0, 120), hasRing: hasRing(focused, 2) }
    })
    if (!stop) break
    stops.push(stop)
  }
  return stops
}

const backgroundOf = (page: Page, selector: string, pseudo?: string) =>
  page.$eval(selector, (element, part) => getComputedStyle(element, part).backgroundColor, pseudo)

browserTest('#18 every control that the keyboard reaches shows a focus ring', async () => {
  const { page, errors } = await openPage(product.url)
  await page.goto('/login')
  await page.getByRole('button', { name: 'Sign In' }).waitFor()
  const without = (stops: Stop[]) => stops.filter(({ hasRing }) => !hasRing).map(({ control }) => control)
  expect(without(await tabThrough(page))).toEqual([])
  await signIn(page)
  for (const [address, heading] of PAGES) {
    await page.goto(address)
    await page.getByRole('heading', { name: heading, exact: true }).first().waitFor()
    const stops = await tabThrough(page)
    expect({ address, isEmpty: stops.length < 5, without: without(stops) }).toEqual({
      address,
      isEmpty: false,
      without: [],
    })
  }
  expect(errors).toEqual([])
})

browserTest('#18 forced colours leave switches, the active link, the chosen tab and bars visible', async () => {
  const { page } = await openPage(product.url)
  await signIn(page)
  await page.emulateMedia({ forcedColors: 'active' })
  await page.goto('/deployments')
  const ground = await backgroundOf(page, 'html')
  await page.getByRole('switch').first().waitFor()
  expect(await backgroundOf(page, '[type=checkbox]')).not.toBe(ground)
  expect(await backgroundOf(page, 'nav a.active', '::after')).not.toBe(ground)
  await page.goto('/admin')
  await page.getByRole('tab', { selected: true }).waitFor()
  expect(await backgroundOf(page, '[role=tab][aria-selected=true]', '::after')).not.toBe(ground)
  await page.goto('/')
  await page.getByRole('link', { name: /-sample/ }).click()
  await page.getByRole('tab', { name: 'Details' }).waitFor()
  expect(await backgroundOf(page, '[aria-hidden] > span[style*=width]')).not.toBe(ground)
})
