import type { Cookie, Locator, Page } from 'playwright-core'
import { browserTest, openPage } from '../support/browser/browserTest'
import { openEveryPage } from '../support/browser/everyPage'
import { inReach } from '../support/browser/inReach'
import { overflowOf } from '../support/browser/overflow'
import { signUp, startProduct, type Product } from '../support/browser/startProduct'
import { tabThrough } from '../support/browser/tabThrough'
import { until } from '../support/platform/until'

let product: Product
let session: Cookie[] | undefined

beforeAll(async () => {
  product = await startProduct()
})
afterAll(() => product.close())

async function signIn(page: Page): Promise<void> {
  if (session) return page.context().addCookies(session)
  await signUp(page, product)
  session = await page.context().cookies()
}

browserTest('every control that the keyboard reaches shows a focus ring', async () => {
  const { page, errors } = await openPage(product.url)
  await signIn(page)
  await openEveryPage(page, product, async (shown, route) => {
    const stops = await tabThrough(shown)
    const without = stops.filter(({ hasRing }) => !hasRing).map(({ control }) => control)
    expect({ route, isEmpty: stops.length < 2, without }).toEqual({ route, isEmpty: false, without: [] })
  })
  expect(errors).toEqual([])
})

browserTest('every page fits 320 pixels, and 1280 pixels at a zoom of 200 %', async () => {
  const { page } = await openPage(product.url)
  await signIn(page)
  const found: string[] = []
  await openEveryPage(page, product, async (shown, route) => {
    // At 200 % a page has half of the pixels.
    for (const width of [320, 640]) {
      await shown.setViewportSize({ width, height: 480 })
      for (const what of await overflowOf(shown)) found.push(`${route} at ${width}: ${what}`)
    }
    await shown.setViewportSize({ width: 1280, height: 900 })
  })
  expect(found).toEqual([])
})

browserTest('at a zoom of 200 % the header and its links cover no focused control and no item of a menu', async () => {
  const { page } = await openPage(product.url)
  await signIn(page)
  const found: string[] = []
  await openEveryPage(page, product, async (shown, route) => {
    await shown.setViewportSize({ width: 640, height: 400 })
    for (const key of ['Tab', 'Shift+Tab'])
      for (const { control, isCovered } of await tabThrough(shown, key))
        if (isCovered) found.push(`${route} ${key}: ${control}`)
    await shown.setViewportSize({ width: 1280, height: 900 })
  })
  expect(found).toEqual([])

  await page.setViewportSize({ width: 640, height: 400 })
  const menus = {
    '/': 'Actions for sample',
    '/deployments': 'Actions for sample',
    '/files': /^Sort/,
    '/admin': /^Actions for /,
  }
  for (const [path, name] of Object.entries(menus)) {
    await page.goto(path)
    await expectItemsInReach(page, page.getByRole('button', { name }).filter({ visible: true }))
  }
  await page.getByRole('button', { name: 'Menu', exact: true }).click()
  await expectItemsInReach(page, page.getByRole('button', { name: 'Your account' }))
  // The menu of a row opens above it, where the head of the table is.
  await page.goto('/files')
  await expectItemsInReach(page, page.getByRole('button', { name: 'Actions for sample' }))
})

/** Opens a menu and focuses each item, as the arrow keys do. */
async function expectItemsInReach(page: Page, button: Locator): Promise<void> {
  await button.click()
  await page.getByRole('menu').waitFor()
  for (const item of await page.locator('[role^=menuitem]').all()) {
    await item.focus()
    await until(() => inReach(item))
  }
  await page.keyboard.press('Escape')
}

const TEXT_SCALE = ['12/16', '13/18', '14/20', '16/24', '20/28', '28/34']

/** Blocks whose text has another size or line height than those of the scale. */
const textsOffScale = (page: Page) =>
  page.evaluate((scale) => {
    const ownText = ({ childNodes }: Element) =>
      [...childNodes].some(({ nodeType, nodeValue }) => nodeType === Node.TEXT_NODE && nodeValue?.trim())
    return [...document.querySelectorAll('body *')].flatMap((element) => {
      const { display, fontSize, lineHeight } = getComputedStyle(element)
      const hasText = ownText(element) || element.matches('input:not([type=checkbox]), textarea, select')
      // The lines of inline elements are those of the block that they are in.
      const isBlock = display !== 'inline' && element.getBoundingClientRect().width > 1
      if (!hasText || !isBlock || element.closest('.ace_editor, svg, script, style, noscript')) return []
      const pair = `${parseFloat(fontSize)}/${Math.round(parseFloat(lineHeight) * 100) / 100}`
      return scale.includes(pair) ? [] : [`${pair} ${element.outerHTML.slice(0, 120)}`]
    })
  }, TEXT_SCALE)

browserTest('every text has a size of the scale with its line height', async () => {
  const { page } = await openPage(product.url)
  await signIn(page)
  const found: string[] = []
  await openEveryPage(page, product, async (shown, route) => {
    for (const width of [1280, 360]) {
      await shown.setViewportSize({ width, height: 900 })
      for (const what of await textsOffScale(shown)) found.push(`${route} at ${width}: ${what}`)
    }
    await shown.setViewportSize({ width: 1280, height: 900 })
  })
  await page.goto('/deployments')
  await page.getByRole('button', { name: 'Create Deployment' }).click()
  await page.getByRole('dialog').getByRole('heading', { name: 'Create Deployment' }).waitFor()
  expect([...found, ...(await textsOffScale(page))]).toEqual([])
})

browserTest('security 57: editors and charts need no style that the policy of the page refuses', async () => {
  const { page, errors } = await openPage(product.url)
  await signIn(page)
  const answer = await page.goto('/')
  expect(answer!.headers()['content-security-policy']).toMatch(/style-src 'self'(?: 'sha256-[\w+/]{43}=')+;/)
  const styleOf = (selector: string, property: 'position' | 'opacity') =>
    page
      .locator(selector)
      .first()
      .evaluate((element, name) => getComputedStyle(element)[name], property)

  await page
    .getByRole('link', { name: /-sample/ })
    .first()
    .click()
  await page.getByRole('tab', { name: 'Metrics' }).click()
  await page.locator('.apexcharts-canvas svg').first().waitFor()
  // By the style sheets of the libraries.
  expect(await styleOf('.apexcharts-canvas', 'position')).toBe('relative')
  expect(await styleOf('.apexcharts-tooltip', 'opacity')).toBe('0')

  await page.goto('/deployments/sample/edit')
  await page.locator('.ace_line').first().waitFor()
  expect(await styleOf('.ace_gutter', 'position')).toBe('absolute')
  await page.locator('.ace_content').click()
  await page.keyboard.press('Control+f')
  await page.locator('.ace_search').waitFor()
  expect(await styleOf('.ace_search', 'position')).toBe('absolute')

  await page.goto('/files/sample')
  await page
    .getByRole('row', { name: /sample\.js/ })
    .getByRole('button', { name: 'sample.js', exact: true })
    .click()
  await page.getByRole('dialog').locator('.ace_line').first().waitFor()
  expect(await styleOf('.ace_gutter', 'position')).toBe('absolute')
  expect(errors).toEqual([])
})

browserTest('nothing moves for users who prefer reduced motion', async () => {
  const { page } = await openPage(product.url)
  await signIn(page)
  const found: string[] = []
  await openEveryPage(page, product, async (shown, route) => {
    const moving = await shown.evaluate(() => {
      const seconds = (times: string) => Math.max(...times.split(', ').map(parseFloat))
      return [...document.querySelectorAll('body *')]
        .filter((element) => {
          const { animationName, animationDuration, transitionDuration, transitionProperty } = getComputedStyle(element)
          const isAnimated = animationName !== 'none' && seconds(animationDuration) > 0.001
          return isAnimated || (transitionProperty !== 'none' && seconds(transitionDuration) > 0.001)
        })
        .map((element) => element.outerHTML.slice(0, 120))
    })
    for (const what of moving) found.push(`${route}: ${what}`)
  })
  expect(found).toEqual([])
})

browserTest('from 48 rem a file is one line of a table, on a phone its size and time are below the name', async () => {
  const { page } = await openPage(product.url)
  await signIn(page)
  await page.goto('/files/sample')
  const row = page.getByRole('row', { name: /sample\.js/ })
  await row.waitFor()
  const linesAt = async (width: number) => {
    await page.setViewportSize({ width, height: 800 })
    return row.evaluate((element) => {
      const middles = [...element.querySelectorAll('bdi, time')].map((text) => {
        const { top, height } = text.getBoundingClientRect()
        return Math.round((top + height / 2) / 8)
      })
      return new Set(middles).size
    })
  }
  expect([await linesAt(768), await linesAt(767)]).toEqual([1, 2])
})
