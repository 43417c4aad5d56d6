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

/** Opens each page, and one of an instance and of consoles. */
async function openEach(page: Page, look: (address: string) => Promise<void>): Promise<void> {
  for (const [address, heading] of PAGES) {
    await page.goto(address)
    await page.getByRole('heading', { name: heading, exact: true }).first().waitFor()
    await look(address)
  }
  await page.goto('/')
  await page.getByRole('link', { name: /-sample/ }).click()
  await page.getByRole('tab', { name: 'Details', exact: true }).waitFor()
  await look('instance')
  await page.goto(`/consoles?instances=${decodeURIComponent(page.url().split('/').at(-1) ?? '')}`)
  await page.getByRole('heading', { name: 'Consoles', exact: true }).waitFor()
  await look('consoles')
}

/** What is wider than the window: the page itself, or a control outside all that scrolls sideways. */
const overflowOf = (page: Page) =>
  page.evaluate(() => {
    const { clientWidth, scrollWidth } = document.documentElement
    const scrolls = (element: Element | null): boolean =>
      element !== null && (/auto|scroll/.test(getComputedStyle(element).overflowX) || scrolls(element.parentElement))
    const controls = [...document.querySelectorAll('a, button, input, select, textarea, [role=switch], h1, h2')]
    const cut = controls.filter((control) => {
      const { left, right, width, height } = control.getBoundingClientRect()
      const isHidden = width <= 1 || height <= 1 || control.closest('.visually-hidden, .ace_editor') !== null
      return !isHidden && (right > clientWidth + 0.5 || left < -0.5) && !scrolls(control.parentElement)
    })
    const wide = scrollWidth > clientWidth ? [`the page: ${scrollWidth} of ${clientWidth} pixels`] : []
    return [...wide, ...cut.map((control) => control.outerHTML.slice(0, 120))]
  })

browserTest('#18 every page fits 320 pixels, and 1280 pixels at a zoom of 200 %', async () => {
  const { page } = await openPage(product.url)
  await signIn(page)
  const found: string[] = []
  await openEach(page, async (address) => {
    // At 200 % a page has half of the pixels.
    for (const width of [320, 640]) {
      await page.setViewportSize({ width, height: 480 })
      for (const what of await overflowOf(page)) found.push(`${address} at ${width}: ${what}`)
    }
    await page.setViewportSize({ width: 1280, height: 900 })
  })
  expect(found).toEqual([])
})

browserTest('#18 nothing moves for users who prefer reduced motion', async () => {
  const { page } = await openPage(product.url)
  await signIn(page)
  const found: string[] = []
  await openEach(page, async (address) => {
    const moving = await page.evaluate(() => {
      const seconds = (times: string) => Math.max(...times.split(', ').map(parseFloat))
      return [...document.querySelectorAll('body *')]
        .filter((element) => {
          const { animationName, animationDuration, transitionDuration, transitionProperty } = getComputedStyle(element)
          const isAnimated = animationName !== 'none' && seconds(animationDuration) > 0.001
          return isAnimated || (transitionProperty !== 'none' && seconds(transitionDuration) > 0.001)
        })
        .map((element) => element.outerHTML.slice(0, 120))
    })
    for (const what of moving) found.push(`${address}: ${what}`)
  })
  expect(found).toEqual([])
})
