import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { chromium, type BrowserContext, type Page } from 'playwright-core'
import { findBrowser } from '../support/browser/findBrowser'
import { signUp, startProduct, type Product } from '../support/browser/startProduct'
import { median, report } from './figures/report'
import { root } from './figures/root'

/**
 * What an operator opens for the first time after signing in, in a real browser at a quarter of its speed: the time
 * from the click until the first content is painted. Every round begins with an empty cache, and with a page that has
 * loaded what it loads in idle time.
 */
const SLOWER = 4
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5)
const ENTRIES = 100_000
/** Slow 4G: 150 ms round trip, 1.6 Mbit/s down. */
const SLOW_4G = { offline: false, latency: 150, downloadThroughput: 200_000, uploadThroughput: 93_750 }

interface Use {
  what: string
  /** The page that is open before. */
  from: string
  open(page: Page): Promise<void>
  /** A CSS selector of the first content. */
  content: string
  /** Whether it takes minutes with slow 4G. */
  isLarge?: true
}

const SAMPLE = 'sample'
const uses: Use[] = [
  {
    what: 'console, first line',
    from: '/',
    open: (page) => page.locator('main a[data-row]').first().click(),
    content: '[role=log] span',
  },
  {
    what: 'file editor, text',
    from: `/files/${SAMPLE}`,
    open: (page) => page.getByRole('button', { name: 'sample.js', exact: true }).click(),
    content: '.ace_line span',
  },
  {
    what: 'configuration, text',
    from: '/deployments',
    open: (page) => page.getByRole('link', { name: 'Edit sample', exact: true }).click(),
    content: '.ace_line span',
  },
  {
    what: 'metrics, chart',
    from: 'instance',
    open: (page) => page.getByRole('tab', { name: 'Metrics' }).click(),
    content: '.apexcharts-area',
  },
  {
    what: `listing of ${ENTRIES} entries, first row`,
    from: '/files',
    open: (page) => page.getByRole('link', { name: 'many', exact: true }).click(),
    content: '[aria-label$="many"] [data-row]',
    isLarge: true,
  },
]

/** Notes the time of the click and of the first frame after the content has appeared. */
const observe = (selector: string) => `
window.use = {}
addEventListener('click', () => { use.from ??= performance.now() }, { capture: true })
const look = () => {
  if (use.from !== undefined && document.querySelector(${JSON.stringify(selector)}))
    requestAnimationFrame(() => { use.ms = performance.now() - use.from })
  else requestAnimationFrame(look)
}
look()`

async function measure(context: BrowserContext, { from, open, content }: Use, instance: string, isSlow: boolean) {
  const page = await context.newPage()
  const session = await context.newCDPSession(page)
  await session.send('Network.enable')
  await session.send('Network.clearBrowserCache')
  await page.goto(from === 'instance' ? instance : from, { waitUntil: 'load' })
  await page.waitForLoadState('networkidle')
  await session.send('Emulation.setCPUThrottlingRate', { rate: SLOWER })
  if (isSlow) await session.send('Network.emulateNetworkConditions', SLOW_4G)
  await page.evaluate(observe(content))
  await open(page)
  let ms: number | undefined
  while ((ms = await page.evaluate<number | undefined>('use.ms')) === undefined) await page.waitForTimeout(20)
  await page.close()
  return ms / 1000
}

async function makeMany(product: Product): Promise<void> {
  const directory = join(product.dataDir, 'nfsshare/many')
  await mkdir(directory)
  for (let at = 0; at < ENTRIES; at += 500)
    await Promise.all(
      Array.from({ length: 500 }, (_, index) => writeFile(join(directory, `file-${at + index}.txt`), '')),
    )
}

async function main(): Promise<void> {
  const product = await startProduct({}, undefined, root)
  const browser = await chromium.launch({ executablePath: findBrowser(), args: ['--no-sandbox', '--disable-gpu'] })
  try {
    await makeMany(product)
    const context = await browser.newContext({ baseURL: product.url })
    const page = await context.newPage()
    await signUp(page, product)
    await page.locator('main a[data-row]').first().click()
    await page.getByRole('tab', { name: 'Metrics' }).waitFor()
    const instance = page.url().split('?', 1)[0] ?? ''
    await page.getByRole('tab', { name: 'Metrics' }).click()
    // The first sample is taken within a minute.
    await page.locator('.apexcharts-area').first().waitFor({ state: 'attached', timeout: 120_000 })
    await page.close()
    for (const use of uses)
      for (const isSlow of use.isLarge ? [false] : [false, true]) {
        const seconds: number[] = []
        for (let round = 0; round < ROUNDS; round++) seconds.push(await measure(context, use, instance, isSlow))
        report({ what: `first use: ${use.what}${isSlow ? ', slow 4G' : ''}`, value: median(seconds), unit: 's' })
      }
  } finally {
    await browser.close()
    await product.close()
  }
}

void main()
