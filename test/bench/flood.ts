import { chromium, type Page } from 'playwright-core'
import { call } from '../support/browser/api'
import { findBrowser } from '../support/browser/findBrowser'
import { signUp, startProduct } from '../support/browser/startProduct'

/**
 * The console page under a flood in a real browser at a quarter of its speed: blocking time and typing latency.
 * The same keys are pressed before the flood, as the baseline of browser and machine.
 */
const LINES_A_SECOND = 10_000
const SECONDS = Number(process.env.BENCH_SECONDS ?? 60)
const SLOWER = 4
/** The interval between keys. */
const KEY_MS = 100

const PRINTER = `
let n = 0
console.log('Ready')
require('node:readline').createInterface({ input: process.stdin }).on('line', () => {
  const begun = Date.now()
  const timer = setInterval(() => {
    const due = Math.min(${LINES_A_SECOND * SECONDS}, (Date.now() - begun) * ${LINES_A_SECOND / 1000})
    let chunk = ''
    for (; n < due; n++) chunk += '\\u001b[3' + (n % 8) + 'm[12:00:00]\\u001b[0m [Server thread/INFO]: line ' + n + ' ' + 'x'.repeat(40) + '\\n'
    process.stdout.write(chunk)
    if (n >= ${LINES_A_SECOND * SECONDS}) { clearInterval(timer); console.log('flood over') }
  }, 10)
})`

/** Records long tasks, frames and, for each key, the time until the frame that shows it. */
const OBSERVE = `
window.seen = { longTasks: [], keys: [], frames: 0 }
new PerformanceObserver((list) => list.getEntries().forEach(({ duration }) => seen.longTasks.push(duration))).observe({ type: 'longtask' })
const count = () => { seen.frames++; requestAnimationFrame(count) }
count()
document.querySelector('[aria-label=Command]').addEventListener('keydown', ({ timeStamp }) => {
  requestAnimationFrame(() => setTimeout(() => seen.keys.push(performance.now() - timeStamp)))
}, true)`

interface Seen {
  longTasks: number[]
  keys: number[]
  frames: number
}

/** Formats key latencies, with the slowest except one in fifty (Interaction to Next Paint, web.dev/articles/inp). */
function inWords(keys: number[]): string {
  const sorted = keys.toSorted((one, other) => one - other)
  const at = (index: number) => `${sorted.at(index)?.toFixed(0)} ms`
  return `p50 ${at(Math.floor(sorted.length / 2))}, INP ${at(-1 - Math.floor(sorted.length / 50))}, p99 ${at(Math.floor(sorted.length * 0.99))}, longest ${at(-1)} of ${keys.length} keys`
}

async function type(page: Page, seconds: number): Promise<Seen> {
  await page.evaluate('Object.assign(seen, { longTasks: [], keys: [], frames: 0 })')
  for (const end = Date.now() + seconds * 1000; Date.now() < end; await page.waitForTimeout(KEY_MS))
    await page.keyboard.press('a')
  return page.evaluate<Seen>('seen')
}

async function main(): Promise<void> {
  const product = await startProduct({ QUARTERDECK_SAMPLE: 'off' })
  const browser = await chromium.launch({ executablePath: findBrowser(), args: ['--no-sandbox', '--disable-gpu'] })
  try {
    const page = await (
      await browser.newContext({ baseURL: product.url, viewport: { width: 1440, height: 900 } })
    ).newPage()
    await signUp(page, product)
    const content = `name: flood\ntype: process\ndataDirectory: /flood\nrun: { command: ["node", "-e", ${JSON.stringify(PRINTER)}] }\n`
    await call(page, 'POST', '/deployments', { name: 'flood', type: 'process' })
    await call(page, 'PATCH', '/deployments/flood', { content })
    await call(page, 'POST', '/deployments/flood/toggle', { enabled: true })
    await page.getByRole('link', { name: /flood/ }).click({ timeout: 15_000 })
    await page.getByText('Connected', { exact: true }).waitFor()

    const devtools = await page.context().newCDPSession(page)
    await devtools.send('Emulation.setCPUThrottlingRate', { rate: SLOWER })
    const command = page.getByLabel('Command', { exact: true })
    await command.focus()
    await page.evaluate(OBSERVE)
    const quiet = await type(page, SECONDS)
    await command.fill('go')
    await command.press('Enter')
    const { longTasks, keys, frames } = await type(page, SECONDS)
    await page.getByText('flood over').waitFor({ timeout: 30_000 })

    console.log(`${LINES_A_SECOND} lines/s for ${SECONDS} s at ${SLOWER} times CPU slow-down`)
    console.log(
      `long tasks: ${longTasks.length}, longest ${Math.max(0, ...longTasks).toFixed(0)} ms, over 100 ms: ${longTasks.filter((duration) => duration > 100).length}`,
    )
    console.log(`typing until its frame: ${inWords(keys)}`)
    console.log(`the same before the flood: ${inWords(quiet.keys)}`)
    console.log(`frames: ${(frames / SECONDS).toFixed(0)} a second`)
  } finally {
    await browser.close()
    await product.stop()
    await product.close()
  }
}

void main()
