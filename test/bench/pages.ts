import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core'
import { findBrowser } from '../support/browser/findBrowser'
import { signUp, startProduct } from '../support/browser/startProduct'
import { median, report } from './figures/report'
import { root } from './figures/root'

/**
 * The first load of the login page and of the overview in a real browser at a quarter of its speed, beside an empty
 * page from bare Node.js: time until it can be used, and requests until then. Each load has an empty cache; loads of
 * the pages alternate, so that the noise of the machine meets all of them.
 */
const SLOWER = 4
const LOADS = Number(process.env.BENCH_LOADS ?? 7)
/** The address of another panel's login page, to be measured in the same run, and a selector of its first field. */
const PEER = process.env.BENCH_PEER
const PEER_FIELD = process.env.BENCH_PEER_FIELD ?? 'input[name=username]'
/** Slow 4G: 150 ms round trip, 1.6 Mbit/s down. */
const SLOW_4G = { offline: false, latency: 150, downloadThroughput: 200_000, uploadThroughput: 93_750 }

interface Load {
  /** Milliseconds from the start of the navigation. */
  ms: number
  requests: number
}

interface Seen {
  shown: number
  live: number
  requests: number
}

/** Records the first frame that shows an element, and when React handles its events. */
const observe = (selector: string) => `
window.seen = {}
const look = () => {
  const found = document.querySelector(${JSON.stringify(selector)})
  if (found && seen.shown === undefined) {
    seen.shown = performance.now()
    seen.requests = 1 + performance.getEntriesByType('resource').filter(({ responseEnd }) => responseEnd > 0 && responseEnd <= seen.shown).length
  }
  if (found && seen.live === undefined && Object.keys(found).some((key) => key.startsWith('__reactProps'))) seen.live = performance.now()
  if (seen.live === undefined) requestAnimationFrame(look)
}
requestAnimationFrame(look)`

interface Case {
  name: string
  url: string
  selector: string
  /** Whether to wait until React handles events. */
  isLive: boolean
  context: BrowserContext
  network?: typeof SLOW_4G
  /** Budgets. */
  seconds?: number
  requests?: number
}

async function load(page: Page, { url, selector, isLive, network }: Case): Promise<Load> {
  const session = await page.context().newCDPSession(page)
  await session.send('Network.enable')
  await session.send('Network.clearBrowserCache')
  if (network) await session.send('Network.emulateNetworkConditions', network)
  await session.send('Emulation.setCPUThrottlingRate', { rate: SLOWER })
  await page.addInitScript(observe(selector))
  await page.goto(url, { waitUntil: 'commit' })
  for (;;) {
    const seen = await page.evaluate<Partial<Seen>>('window.seen ?? {}')
    const ms = isLive ? seen.live : seen.shown
    if (ms !== undefined) return { ms, requests: seen.requests ?? NaN }
    await page.waitForTimeout(50)
  }
}

async function serveEmptyPage() {
  const server = createServer((_request, response) =>
    response.setHeader('content-type', 'text/html').end('<!doctype html><title>Empty</title><input>'),
  )
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, close: () => server.close() }
}

async function main(): Promise<void> {
  const product = await startProduct({}, undefined, root)
  const empty = await serveEmptyPage()
  const browser: Browser = await chromium.launch({
    executablePath: findBrowser(),
    args: ['--no-sandbox', '--disable-gpu'],
  })
  try {
    const stranger = await browser.newContext()
    const operator = await browser.newContext({ baseURL: product.url })
    await signUp(await operator.newPage(), product)
    const login = { url: `${product.url}/login`, selector: 'input[autocomplete=username]', context: stranger }
    const nothing = { url: empty.url, selector: 'input', isLive: false, context: stranger }
    const peer = PEER === undefined ? [] : [{ url: PEER, selector: PEER_FIELD, isLive: false, context: stranger }]
    const overview = { url: `${product.url}/`, selector: 'main [data-row]', context: operator }
    const cases: Case[] = [
      { name: 'empty page', ...nothing },
      { name: 'login, field can be typed in', ...login, isLive: false, seconds: 0.35, requests: 4 },
      ...peer.map((one) => ({ name: "the peer's login", ...one })),
      { name: 'login, page is live', ...login, isLive: true },
      { name: 'overview, first instance', ...overview, isLive: false, seconds: 0.6, requests: 10 },
      { name: 'empty page, slow 4G', ...nothing, network: SLOW_4G },
      { name: 'login, field can be typed in, slow 4G', ...login, isLive: false, network: SLOW_4G, seconds: 0.9 },
      ...peer.map((one) => ({ name: "the peer's login, slow 4G", ...one, network: SLOW_4G })),
      { name: 'login, page is live, slow 4G', ...login, isLive: true, network: SLOW_4G },
      { name: 'overview, first instance, slow 4G', ...overview, isLive: false, network: SLOW_4G },
    ]
    const loads = new Map<Case, Load[]>(cases.map((one) => [one, []]))
    for (let round = 0; round < LOADS; round++)
      for (const [one, seen] of loads) {
        const page = await one.context.newPage()
        seen.push(await load(page, one))
        await page.close()
      }
    for (const [{ name, seconds, requests }, seen] of loads) {
      const whole = median(seen.map(({ ms }) => ms)) / 1000
      report({ what: name, value: whole, unit: 's', ...(seconds !== undefined && { budget: seconds }) })
      if (requests === undefined) continue
      report({
        what: `${name}, until then`,
        value: median(seen.map((one) => one.requests)),
        unit: 'requests',
        budget: requests,
      })
    }
  } finally {
    await browser.close()
    empty.close()
    await product.close()
  }
}

void main()
