import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { chromium, type BrowserContext, type Page } from 'playwright-core'
import { findBrowser } from '../support/browser/findBrowser'
import { DIALOGS, openDialog } from './dialogs'

const ROOT = join(__dirname, '../..')

/** Every page, by the name of its pictures, with what to wait for besides its heading. */
const PAGES: Record<string, string> = {
  overview: '/',
  deployments: '/deployments',
  configuration: '/deployments/survival/edit',
  instance: 'instance:survival',
  blocked: 'instance:minigames',
  files: '/files/survival',
  root: '/files',
  databases: '/databases',
  users: '/admin',
  invites: '/admin?tab=invites',
  dashboard: '/admin?tab=dashboard',
  activity: '/activity',
  keys: '/keys',
  consoles: '/consoles',
  'sign-in': '/security',
  unknown: '/nowhere',
}
/** The pictures of the README. */
const README_PAGES: Record<string, string> = { overview: '/', console: 'instance:survival' }
const SPARKLINE_MS = 30_000
const HEIGHTS: Record<number, number> = { 1440: 900, 1024: 768, 768: 1024, 360: 760 }

/**
 * Takes pictures of pages for a review, into `.cache/pictures`.
 *
 *   npm run pictures -- [--url URL] [--width 1440,360] [--theme light,dark] [--whole] [--dialogs] [PAGE…]
 *   npm run pictures -- --readme      takes those of the README, into `public`
 *
 * `npm run sample` must be running. URL is that of `npm run dev`, to look at changes without a build. A page is one of
 * the names above, a dialog of `dialogs.ts`, a path, or `instance:NAME` for the first instance of a deployment.
 * `--dialogs` takes the dialogs too. `--whole` takes the whole page rather than what fits into the window.
 */
async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      url: { type: 'string' },
      width: { type: 'string', default: '1440,1024,768,360' },
      theme: { type: 'string', default: 'light,dark' },
      whole: { type: 'boolean', default: false },
      readme: { type: 'boolean', default: false },
      dialogs: { type: 'boolean', default: false },
      out: { type: 'string' },
    },
  })
  const sample = process.env.SAMPLE ?? join(ROOT, '.cache/sample.json')
  const { url, token } = JSON.parse(readFileSync(sample, 'utf8')) as { url: string; token: string }
  const out = values.out ?? join(ROOT, values.readme ? 'public' : '.cache/pictures')
  mkdirSync(out, { recursive: true })
  const browser = await chromium.launch({ executablePath: findBrowser(), args: ['--no-sandbox', '--disable-gpu'] })
  const context = await browser.newContext({ baseURL: values.url ?? url, reducedMotion: 'reduce' })
  await context.addCookies(
    Object.entries({ token, isAdmin: '1' }).map(([name, value]) => ({ name, value, url: values.url ?? url })),
  )
  const page = await context.newPage()
  page.on('pageerror', (error) => console.error(`${page.url()}: ${error.message}`))
  const pages = values.readme ? README_PAGES : PAGES
  const widths = values.readme ? [1440] : values.width.split(',').map(Number)
  const all = [...Object.keys(pages), ...(values.dialogs ? Object.keys(DIALOGS) : [])]
  for (const name of positionals.length > 0 ? positionals : all) {
    for (const width of widths) {
      await page.setViewportSize({ width, height: HEIGHTS[width] ?? 900 })
      const dialog = DIALOGS[name]
      await open(context, page, dialog?.path ?? pages[name] ?? name)
      const failure = dialog && (await openDialog(page, dialog.steps).catch((error: Error) => error))
      if (failure) {
        console.error(`${name} at ${width}: ${failure.message.split('\n')[0]}`)
        continue
      }
      // A sparkline grows with each poll.
      if (values.readme) await page.waitForTimeout(SPARKLINE_MS)
      for (const theme of values.theme.split(',') as ('light' | 'dark')[]) {
        await page.emulateMedia({ colorScheme: theme })
        await page.waitForTimeout(100)
        const file = `${name.replaceAll(/[^\w-]+/g, '_')}-${theme}${values.readme ? '' : `-${width}`}.png`
        await page.screenshot({ path: join(out, file), fullPage: values.whole })
        console.log(file)
      }
    }
  }
  await browser.close()
}

async function open(context: BrowserContext, page: Page, path: string): Promise<void> {
  const deployment = /^instance:(.*)$/.exec(path)?.[1]
  await page.goto(deployment === undefined ? path : await instancePath(context, deployment))
  await page.locator('h1').first().waitFor()
  // Lists, charts and the console follow the heading.
  await page.waitForTimeout(1200)
}

async function instancePath(context: BrowserContext, deployment: string): Promise<string> {
  const token = (await context.cookies()).find(({ name }) => name === 'token')?.value
  const answer = await context.request.get(`/api/deployments/${deployment}/instances`, {
    headers: { authorization: `Bearer ${token}` },
  })
  const { data } = (await answer.json()) as { data: { instances: { uid: string }[] } }
  return `/instance/${deployment}/${data.instances[0]?.uid}`
}

void main()
