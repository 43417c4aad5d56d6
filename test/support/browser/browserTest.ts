import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type axe from 'axe-core'
import { chromium, type Browser, type BrowserContext, type Page, type Request } from 'playwright-core'
import { findBrowser } from './findBrowser'

const executablePath = findBrowser()

/**
 * Like `test`, but skipped with a note where there is no Chromium (see src/setup.js). A failure names what every page
 * shows, and its last events: errors, and requests that failed or are in flight.
 */
export const browserTest = (title: string, walk: () => Promise<void>, timeout?: number): void =>
  (executablePath ? test : test.skip)(
    title,
    async () => {
      try {
        await walk()
      } catch (error) {
        if (error instanceof Error) error.stack += `\n${await describePages()}`
        throw error
      }
    },
    timeout,
  )

/** Screenshots for review, which TEST_SCREENSHOTS=1 asks for, and pictures that differ from what a test expected. */
export const SCREENSHOTS = join(__dirname, '../../../.cache/screenshots')
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

const AXE = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8')

const REFUSED =
  /^(?:Failed to load resource|WebSocket connection to .* failed: (?:$|.*net::ERR_\w+|Connection closed before receiving a handshake response|Error during WebSocket handshake: Unexpected response code: (?:40\d|503)))/

const browsers = new Map<boolean, Browser>()

interface PageLog {
  events: string[]
  inFlight: Set<Request>
}
const logs = new WeakMap<Page, PageLog>()

function logEvents(page: Page): void {
  const log: PageLog = { events: [], inFlight: new Set() }
  logs.set(page, log)
  const add = (event: string) => log.events.push(`${new Date().toISOString().slice(11, 23)} ${event}`)
  page.on('pageerror', (error) => add(String(error)))
  page.on('console', (message) => message.type() === 'error' && add(message.text()))
  page.on('framenavigated', (frame) => frame === page.mainFrame() && add(`opened ${frame.url()}`))
  page.on('request', (request) => log.inFlight.add(request))
  page.on('requestfinished', (request) => log.inFlight.delete(request))
  page.on('requestfailed', (request) => {
    log.inFlight.delete(request)
    add(`${request.method()} ${request.url()}: ${request.failure()?.errorText}`)
  })
}

async function describePages(): Promise<string> {
  const pages = [...browsers.values()].flatMap((browser) => browser.contexts()).flatMap((context) => context.pages())
  const described = pages.map(async (page) => {
    const log = logs.get(page)
    // A page that hangs answers nothing.
    const shown = await page
      .locator('body')
      .innerText({ timeout: 5000 })
      .catch((error: unknown) => `no response: ${String(error)}`)
    const open = [...(log?.inFlight ?? [])].map((request) => `in flight: ${request.method()} ${request.url()}`)
    return [`Page ${page.url()}`, ...(log?.events.slice(-20) ?? []), ...open, shown.slice(0, 2000)].join('\n  ')
  })
  return (await Promise.all(described)).join('\n\n')
}

/**
 * Opens a new browser profile with one page, whose scroll bars take no room by default. Collects the errors of the page
 * in `errors`.
 */
export async function openPage(
  url: string,
  { scrollBars = false } = {},
): Promise<{ context: BrowserContext; page: Page; errors: string[] }> {
  const browser =
    browsers.get(scrollBars) ??
    (await chromium.launch({ executablePath, args: FLAGS, ignoreDefaultArgs: scrollBars ? ['--hide-scrollbars'] : [] }))
  browsers.set(scrollBars, browser)
  const context = await browser.newContext({
    baseURL: url,
    viewport: { width: 1440, height: 900 },
    reducedMotion: 'reduce',
  })
  context.on('page', logEvents)
  const page = await context.newPage()
  page.setDefaultTimeout(45_000)
  const errors: string[] = []
  page.on('pageerror', (error) => errors.push(error.message))
  page.on('console', (message) => {
    // The browser reports refused calls and sockets as errors, although they are ordinary answers.
    if (message.type() === 'error' && !REFUSED.test(message.text())) errors.push(message.text())
  })
  return { context, page, errors }
}

afterAll(async () => {
  for (const browser of browsers.values()) await browser.close()
})

/**
 * Runs axe on the page. Runs in the page itself, because its package for Playwright opens another page for each
 * analysis and transfers all data, which takes ten times as long.
 */
async function violationsOn(page: Page): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(AXE)
  return page.evaluate(async () => {
    const { violations } = await (window as unknown as { axe: typeof axe }).axe.run(document, {
      resultTypes: ['violations'],
    })
    return violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html} ${nodes[0]?.any[0]?.message}`)
  })
}

/** Takes a screenshot for review. Does nothing unless TEST_SCREENSHOTS=1 asks for it: no test depends on it. */
export async function takeScreenshot(page: Page, name: string, fullPage = true): Promise<void> {
  if (process.env.TEST_SCREENSHOTS !== '1') return
  mkdirSync(SCREENSHOTS, { recursive: true })
  await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`), fullPage })
}

/** Takes screenshots between the widths of a phone and a wide screen, in both themes. */
export async function takeTabletScreenshots(page: Page, name: string): Promise<void> {
  await page.setViewportSize({ width: 768, height: 1024 })
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme })
    await takeScreenshot(page, `${name}-${colorScheme}-768`)
  }
  await page.setViewportSize({ width: 1440, height: 900 })
}

/** Waits until what changed is drawn: a page handles a change in its next frame. */
const nextFrames = (page: Page) =>
  page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))))

/**
 * Ends a page's test: axe finds nothing in either theme, and nothing is wider than a wide screen or a phone. Takes
 * screenshots of both.
 */
export async function expectGoodPage(page: Page, name: string): Promise<void> {
  // The page's chunk may still be loading.
  await page.locator('h1').first().waitFor({ state: 'attached' })
  for (const theme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme: theme })
    await nextFrames(page)
    expect({ page: name, theme, violations: await violationsOn(page) }).toEqual({ page: name, theme, violations: [] })
    for (const width of [1440, 360]) {
      await page.setViewportSize({ width, height: width === 360 ? 760 : 900 })
      await nextFrames(page)
      // Charts adapt to a new width with a delay.
      await page.waitForFunction(() =>
        [...document.querySelectorAll('svg.apexcharts-svg')].every(
          (chart) => chart.getBoundingClientRect().right <= window.innerWidth,
        ),
      )
      await takeScreenshot(page, `${name}-${theme}-${width}`)
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)
      expect({ page: name, width, overflow: Math.max(0, overflow) }).toEqual({ page: name, width, overflow: 0 })
    }
    await page.setViewportSize({ width: 1440, height: 900 })
  }
  await page.emulateMedia({ colorScheme: 'light' })
}
