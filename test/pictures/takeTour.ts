import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium, type Page } from 'playwright-core'
import { findBrowser } from '../support/browser/findBrowser'

const ROOT = join(__dirname, '../..')
const SIZE = { width: 1280, height: 880 }

/**
 * Takes the animated picture of the README, 20 seconds of the overview and a console, into `public/tour.webp`.
 *
 *   npx tsx test/pictures/takeTour.ts [URL]
 *
 * `npm run sample` must be running, and `ffmpeg` must be installed (Debian has it). URL is that of `npm run dev`.
 */
async function main(): Promise<void> {
  const sample = JSON.parse(readFileSync(join(ROOT, '.cache/sample.json'), 'utf8')) as { url: string; token: string }
  const url = process.argv[2] ?? sample.url
  const browser = await chromium.launch({ executablePath: findBrowser(), args: ['--no-sandbox', '--disable-gpu'] })
  const context = await browser.newContext({ baseURL: url, viewport: SIZE, colorScheme: 'dark' })
  await context.addCookies(
    Object.entries({ token: sample.token, isAdmin: '1' }).map(([name, value]) => ({ name, value, url })),
  )
  const page = await context.newPage()
  await page.goto('/')
  await page.getByRole('link', { name: /-survival/ }).waitFor()
  const frames = mkdtempSync(join(tmpdir(), 'quarterdeck-tour-'))
  const film = record(page, frames)
  await walk(page)
  await film.end()
  await browser.close()
  execFileSync('ffmpeg', [
    ...['-y', '-loglevel', 'error', '-f', 'concat', '-i', join(frames, 'frames.txt')],
    ...['-vf', 'fps=8,scale=1000:-1:flags=lanczos', '-c:v', 'libwebp_anim', '-quality', '60', '-loop', '0'],
    join(ROOT, 'public/tour.webp'),
  ])
  rmSync(frames, { recursive: true })
}

/** Takes frames one after the other until the end, with the times for which each is shown. */
function record(page: Page, directory: string): { end(): Promise<void> } {
  let isOver = false
  const taken: { name: string; at: number }[] = []
  const taking = (async () => {
    while (!isOver) {
      const name = `${taken.length}.png`
      taken.push({ name, at: Date.now() })
      await page.screenshot({ path: join(directory, name) })
    }
  })()
  return {
    async end() {
      isOver = true
      await taking
      const lines = taken.flatMap(({ name, at }, index) => {
        const seconds = ((taken[index + 1]?.at ?? Date.now()) - at) / 1000
        return [`file ${name}`, `duration ${seconds.toFixed(3)}`]
      })
      writeFileSync(join(directory, 'frames.txt'), lines.join('\n'))
    },
  }
}

async function walk(page: Page): Promise<void> {
  const pause = (seconds: number) => page.waitForTimeout(seconds * 1000)
  await pause(2.5)
  await page.getByRole('button', { name: /^Needs attention/ }).click()
  await pause(2)
  await page.getByRole('button', { name: /^All/ }).click()
  await pause(1.5)
  await page.getByRole('link', { name: /-survival/ }).click()
  await page.evaluate(() => window.scrollTo(0, 0))
  await page.getByText('Connected', { exact: true }).waitFor()
  await pause(2.5)
  await page
    .getByLabel('Command', { exact: true })
    .pressSequentially('say The market opens in five minutes', { delay: 40 })
  await pause(0.5)
  await page.keyboard.press('Enter')
  await pause(2.5)
  await page.getByLabel('Search the console', { exact: true }).pressSequentially('market', { delay: 80 })
  await pause(2)
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Overview', exact: true }).click()
  await page.evaluate(() => window.scrollTo(0, 0))
  await pause(1)
}

void main()
