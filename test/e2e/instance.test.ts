import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { call } from '../support/browser/api'
import { bareWindow } from '../support/browser/bareTab'
import { browserTest, expectGoodPage, openPage } from '../support/browser/browserTest'
import { signUp, useProduct } from '../support/browser/startProduct'
import { until } from '../support/platform/until'

const product = useProduct({ QUARTERDECK_SAMPLE: 'off' })

let opened: ReturnType<typeof openPage> | undefined
/** One user for all tests. */
const signedIn = () =>
  (opened ??= (async () => {
    const shown = await openPage(product().url)
    await signUp(shown.page, product())
    return shown
  })())

const PROGRAM = `
console.log('\\u001b[32mDone\\u001b[0m (1.0s)!')
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const [word, count] = line.split(' ')
  if (word === 'stop') process.exit(0)
  else if (word === 'crash') process.exit(3)
  else if (word === 'print') for (let i = 1; i <= Number(count); i++) console.log('line ' + i)
  else if (word === 'markup') console.log('<img src=x onerror="window.hacked = 1">\\u001b]8;;http://evil.example\\u0007link\\u001b]8;;\\u0007')
  else console.log('heard ' + line)
})`

const status = (page: Page) => page.getByRole('region', { name: 'Status' })
const log = (page: Page) => page.getByRole('log', { name: 'Console output' })
/** Turns the wheel over the log, and waits until it has come to rest there: a browser scrolls in its own time. */
const roll = async (page: Page, by: number) => {
  const end = await log(page).evaluate(
    ({ scrollTop, scrollHeight, clientHeight }, by) =>
      Math.min(scrollHeight - clientHeight, Math.max(0, scrollTop + by)),
    by,
  )
  await log(page).hover()
  await page.mouse.wheel(0, by)
  await until(
    () => log(page).evaluate(({ scrollTop }) => scrollTop),
    (top) => Math.abs(top - end) < 1,
  )
}
const hasLine = (page: Page, text: string) => log(page).getByText(text, { exact: true }).first().waitFor()

async function type(page: Page, command: string): Promise<void> {
  await page.getByLabel('Command', { exact: true }).fill(command)
  await page.keyboard.press('Enter')
}

/** Deploys the program and opens its instance's page. */
async function run(page: Page, name: string): Promise<void> {
  await call(page, 'POST', '/deployments', { name, type: 'scalable' })
  await mkdir(join(product().dataDir, `nfsshare/${name}`), { recursive: true })
  await writeFile(join(product().dataDir, `nfsshare/${name}/main.js`), PROGRAM)
  await call(page, 'PATCH', `/deployments/${name}`, {
    content: `name: ${name}\ntype: scalable\ndescription: Where everybody meets\ndataDirectory: /${name}\nrun: { command: ["node", "main.js"] }\nready: Done\nstop: { command: stop, timeoutSeconds: 5 }\nresources: { cpu: 500m, memory: 1Gi }\n`,
  })
  await call(page, 'POST', `/deployments/${name}/toggle`, { enabled: true })
  await page.goto('/')
  await page.getByRole('link', { name: new RegExp(`-${name}`) }).click()
  await status(page).getByText('Online').waitFor()
}

browserTest('the console, its tools, power, a crash, and a platform that dies and comes back', async () => {
  const { page, errors } = await signedIn()
  await run(page, 'world')

  // Output and commands.
  await hasLine(page, 'Done (1.0s)!')
  await type(page, 'hello')
  await hasLine(page, 'heard hello')
  await type(page, 'markup')
  await hasLine(page, '<img src=x onerror="window.hacked = 1">link')
  expect(await page.evaluate('window.hacked')).toBeUndefined()
  await expectGoodPage(page, 'instance-console')

  // §2, §9: the sizes of the log window and of the page around it.
  expect((await log(page).boundingBox())!.height).toBe(500)
  const content = await page.locator('main').evaluate((main) => {
    const { left, right, width } = main.getBoundingClientRect()
    return {
      width,
      isCentred: Math.abs(left - (document.body.clientWidth - right)) < 1,
      padding: getComputedStyle(main).padding,
    }
  })
  expect(content).toEqual({ width: 80 * 16, isCentred: true, padding: '24px 16px' })

  // History: without consecutive duplicates, kept over a reload.
  await type(page, 'hello')
  await type(page, 'hello')
  await page.reload()
  const command = page.getByLabel('Command', { exact: true })
  await page.getByText('Connected', { exact: true }).waitFor()
  await command.focus()
  await page.keyboard.press('ArrowUp')
  expect(await command.inputValue()).toBe('hello')
  await page.keyboard.press('ArrowUp')
  expect(await command.inputValue()).toBe('markup')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('ArrowDown')
  expect(await command.inputValue()).toBe('')

  // Many lines: only what is seen is in the page, and the end is followed.
  await type(page, 'print 5000')
  await hasLine(page, 'line 5000')
  expect(await log(page).locator('*').count()).toBeLessThan(500)
  await log(page).hover()
  await page.mouse.wheel(0, -2000)
  const jump = page.getByRole('button', { name: /Jump to bottom/ })
  await jump.waitFor()
  await type(page, 'print 3')
  await page.getByRole('button', { name: /Jump to bottom \(3 new\)/ }).waitFor()
  await jump.click()
  await hasLine(page, 'line 3')
  await page
    .getByRole('searchbox', { name: 'Search the console' })
    .or(page.getByLabel('Search the console'))
    .fill('line 4999')
  await page.getByText('1 of 1').waitFor()
  await hasLine(page, 'line 4999')
  await page.keyboard.press('Escape')
  await jump.click()
  const download = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Download' }).click()
  expect(await readFile(await (await download).path(), 'utf8')).toContain('line 4999\nline 5000')

  // Power, there and back, as the console hears it.
  const power = (name: string) => page.getByRole('group', { name: 'Power' }).getByRole('button', { name, exact: true })
  expect(await power('Start').isDisabled()).toBe(true)
  await power('Stop').click()
  await status(page).getByText('Offline').waitFor()
  await hasLine(page, '[System] Instance state changed to: STOPPED')
  for (const name of ['Stop', 'Restart', 'Kill']) expect(await power(name).isDisabled()).toBe(true)
  await power('Start').click()
  await status(page).getByText('Online').waitFor()
  const runs = () => log(page).getByText('[System] Instance state changed to: RUNNING', { exact: true }).count()
  const before = await until(runs)
  await power('Restart').click()
  const again = await until(runs, (count) => count > before)
  await status(page).getByText('Online').waitFor()

  // A crash: seen, counted, started again, and its capsule.
  await type(page, 'crash')
  await hasLine(page, '[System] Ended by itself with exit code 3.')
  await until(runs, (count) => count > again)
  await status(page).getByText('Online').waitFor()
  await page.getByRole('tab', { name: 'Details' }).click()
  await page.getByRole('heading', { name: 'Instance Details' }).waitFor()
  await page.getByRole('button', { name: 'Show' }).click()
  await page.getByLabel(/^The last \d+ lines$/).waitFor()
  const capsule = (await page.getByLabel(/^The last \d+ lines$/).boundingBox())!
  expect(capsule.y + capsule.height).toBeLessThanOrEqual(page.viewportSize()!.height)
  await expectGoodPage(page, 'instance-details')
  await page.getByRole('tab', { name: 'Metrics' }).click()
  await page.getByRole('region', { name: 'CPU metrics' }).waitFor()
  await page.getByRole('region', { name: 'Memory metrics' }).waitFor()
  await page.locator('.apexcharts-svg').first().waitFor({ timeout: 60_000 })
  await expectGoodPage(page, 'instance-metrics')

  // The platform dies without a word and comes back: nothing is missing, nothing is twice.
  await page.getByRole('tab', { name: 'Console' }).click()
  await type(page, 'before')
  await hasLine(page, 'heard before')
  const place = await log(page).boundingBox()
  await product().kill()
  await hasLine(page, '[System] Socket closed unexpectedly.')
  await page.getByText('Disconnected – reconnecting').waitFor()
  // Saying so moves nothing.
  expect(await log(page).boundingBox()).toEqual(place)
  await product().restart()
  await page.getByText('Connected', { exact: true }).waitFor()
  await type(page, 'after')
  await hasLine(page, 'heard after')
  expect(await log(page).getByText('heard before', { exact: true }).count()).toBe(1)

  // Kill asks, ends it, and goes home after a second.
  await power('Kill').click()
  await page.getByRole('dialog').getByRole('button', { name: 'Kill', exact: true }).click()
  await page.getByRole('heading', { name: 'Network Overview' }).waitFor()
  await page
    .getByRole('link', { name: /-world/ })
    .getByText('Offline')
    .waitFor()
  expect(errors).toEqual([])
})

const numbered = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => `line ${from + index}`)
const clipboard = (page: Page) => page.evaluate(() => navigator.clipboard.readText())

/** Where the middle of a line's first and last character are. */
async function endsOf(page: Page, text: string) {
  const box = await log(page)
    .locator('[data-line]', { hasText: new RegExp(`^${text}$`) })
    .first()
    .evaluate((row) => {
      const range = document.createRange()
      range.selectNodeContents(row)
      const { left, right, top, height } = range.getBoundingClientRect()
      return { left, right, y: top + height / 2 }
    })
  return { start: { x: box.left + 1, y: box.y }, end: { x: box.right + 1, y: box.y } }
}

browserTest(
  'a selection goes beyond what is drawn: by dragging, by Shift and a click after scrolling, by keyboard',
  async () => {
    const { page, context } = await signedIn()
    await context.grantPermissions(['clipboard-read', 'clipboard-write'])
    await run(page, 'select')
    await type(page, 'print 1000')
    await hasLine(page, 'line 1000')
    const { x, y } = (await log(page).boundingBox())!

    // Dragged upwards, out of the window, until 150 lines further.
    const last = await endsOf(page, 'line 1000')
    await page.mouse.move(last.end.x, last.end.y)
    await page.mouse.down()
    await page.mouse.move(x + 100, y + 30, { steps: 3 })
    await page.mouse.move(x + 100, y - 40)
    // Lines pass by quickly: as far as that, or further.
    await page.waitForFunction(() =>
      [...document.querySelectorAll('[data-line]')].some(
        (row) => Number(/^line (\d+)$/.exec(row.textContent ?? '')?.[1]) <= 850,
      ),
    )
    // Over the text again it scrolls no further, however far it has come.
    await page.mouse.move(last.start.x, y + 100)
    expect(await log(page).getByText('line 1000', { exact: true }).count()).toBe(0)
    await page.mouse.up()
    await page.keyboard.press('Control+C')
    const copied = (await clipboard(page)).split('\n')
    expect(copied.at(-1)).toBe('line 1000')
    expect(copied).toEqual(numbered(1001 - copied.length, 1000))
    expect(copied.length).toBeGreaterThan(100)
    expect(await page.evaluate(() => window.getSelection()!.toString().length)).toBeGreaterThan(100)
    await page.screenshot({ path: join(__dirname, '../../.cache/screenshots/instance-selection.png') })

    // Scrolled out of sight altogether, it is still what is copied.
    await page.getByRole('button', { name: /Jump to bottom/ }).click()
    await type(page, 'print 500')
    await hasLine(page, 'line 500')

    // A click, the wheel, Shift and a click.
    await roll(page, -200)
    const from = await endsOf(page, 'line 480')
    await page.mouse.click(from.start.x, from.start.y)
    await roll(page, -4000)
    await log(page).getByText('line 280', { exact: true }).waitFor()
    const to = await endsOf(page, 'line 280')
    await page.keyboard.down('Shift')
    await page.mouse.click(to.start.x, to.start.y)
    await page.keyboard.up('Shift')
    await page.getByRole('button', { name: 'Copy the selection, or all lines' }).click()
    await page.getByText('Copied the selection').first().waitFor()
    expect(await clipboard(page)).toBe(`${numbered(280, 479).join('\n')}\n`)
    await roll(page, 3600)
    await log(page).getByText('line 460', { exact: true }).waitFor()
    await page.keyboard.press('Control+C')
    expect(await clipboard(page)).toBe(`${numbered(280, 479).join('\n')}\n`)

    // A word, a line, all of it, and a page up from there.
    const word = await endsOf(page, 'line 460')
    await page.mouse.dblclick(word.start.x + 2, word.start.y)
    await page.keyboard.press('Control+C')
    expect(await clipboard(page)).toBe('line')
    await page.mouse.click(word.start.x + 2, word.start.y, { clickCount: 3 })
    await page.keyboard.press('Control+C')
    expect(await clipboard(page)).toBe('line 460')
    await page.keyboard.press('Shift+PageDown')
    await page.keyboard.press('Shift+ArrowDown')
    await page.keyboard.press('Control+C')
    expect((await clipboard(page)).split('\n')).toEqual(numbered(460, 486))
    await page.keyboard.press('Control+A')
    await page.keyboard.press('Control+C')
    const all = await clipboard(page)
    expect(all).toContain(`${numbered(1, 1000).join('\n')}\n`)
    expect(all.endsWith('line 500')).toBe(true)

    // Who types in the command line has the keyboard back.
    await page.getByLabel('Command', { exact: true }).fill('heard')
    await page.keyboard.press('Control+A')
    await page.keyboard.press('Control+C')
    expect(await clipboard(page)).toBe('heard')
  },
)

browserTest(
  'the layout holds at every width, under notifications and dialogs, with scroll bars that take room',
  async () => {
    const { context: known, page: worker } = await signedIn()
    await run(worker, 'layout')
    const { page, context } = await openPage(product().url, { scrollBars: true })
    await context.addCookies(await known.cookies())
    await page.goto('/deployments')
    const create = page.getByRole('button', { name: 'Create Deployment' })
    await create.waitFor()

    // An administrator's header: what it offers is on the page, or in the menu.
    for (let width = 360; width <= 1300; width += 20) {
      await page.setViewportSize({ width, height: 600 })
      const header = await page.locator('.header').evaluate((element) => {
        const { right } = element.getBoundingClientRect()
        const shown = [...element.querySelectorAll('a, button')].filter(
          (control) => control.getClientRects().length > 0,
        )
        const beyond = shown.filter((control) => control.getBoundingClientRect().right > right)
        return { height: element.clientHeight, beyond: beyond.map((control) => control.textContent) }
      })
      expect({ width, ...header }).toEqual({ width, height: 56, beyond: [] })
      expect(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth)).toBe(true)
    }

    // §2: notifications are at the top right, below the header, and what lies under them can be used.
    for (const width of [360, 1000, 1440]) {
      await page.setViewportSize({ width, height: 600 })
      await page.getByRole('checkbox', { name: /able layout$/ }).click()
      const toast = page
        .getByRole('region', { name: 'Notifications' })
        .getByText(/^Successfully (en|dis)abled layout$/)
        .last()
      await toast.waitFor()
      const gaps = await page
        .locator('.toast')
        .last()
        .evaluate(async (element) => {
          // It comes in from the side.
          await Promise.all(element.getAnimations().map(({ finished }) => finished))
          const { top, right, left } = element.getBoundingClientRect()
          return {
            isBelowHeader: top >= document.querySelector('.header')!.getBoundingClientRect().bottom,
            right: document.querySelector('.header')!.getBoundingClientRect().right - right,
            isWhole: left >= 0,
          }
        })
      expect({ width, ...gaps }).toEqual({ width, isBelowHeader: true, right: width === 360 ? 8 : 16, isWhole: true })
    }

    // A dialog moves nothing, neither on a page that scrolls nor on one that does not.
    const places = () =>
      page.evaluate(() =>
        ['h1', '.brand', '.header-logout', 'main']
          .map((part) => document.querySelector(part)!.getBoundingClientRect())
          .map(({ left, right, top }) => [left, right, top]),
      )
    for (const height of [400, 1200]) {
      await page.setViewportSize({ width: 1440, height })
      await page.evaluate(() => window.scrollTo(0, 30))
      const before = await places()
      await create.click()
      await page.getByRole('dialog').waitFor()
      expect(await places()).toEqual(before)
      await page.keyboard.press('Escape')
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      expect(await places()).toEqual(before)
    }
  },
)

browserTest('§2 hovering one chart shows the same time on the other', async () => {
  const { page } = await signedIn()
  await run(page, 'charts')
  const now = Math.floor(Date.now() / 1000) * 1000
  // An hour of it would take an hour.
  await page.route('**/api/metrics/*', (route) => {
    const data = Array.from({ length: 240 }, (_, index) => ({
      timestamp: now - (239 - index) * 15_000,
      value: 1000 + index,
    }))
    return route.fulfill({ json: { success: true, data: { data } } })
  })
  await page.getByRole('tab', { name: 'Metrics' }).click()
  const [cpu, memory] = ['CPU metrics', 'Memory metrics'].map((name) => page.getByRole('region', { name }))
  const timeOn = (chart: typeof cpu) =>
    chart!.locator('.apexcharts-tooltip.apexcharts-active .apexcharts-tooltip-title')
  for (const [hovered, other] of [
    [cpu, memory],
    [memory, cpu],
  ]) {
    const plot = hovered!.locator('.apexcharts-grid').first()
    await plot.waitFor({ state: 'attached' })
    const { x, y, width, height } = (await plot.boundingBox())!
    for (const share of [0.25, 0.75]) {
      // Moved again each time: a chart that is drawn anew forgets the pointer.
      const times = async () => {
        await page.mouse.move(x + width * share - 1, y + height / 2)
        await page.mouse.move(x + width * share, y + height / 2)
        return Promise.all([timeOn(hovered).allInnerTexts(), timeOn(other).allInnerTexts()])
      }
      await until(times, ([[one], [two]]) => one !== undefined && /^\d\d:\d\d:\d\d$/.test(one) && one === two)
    }
  }
  await page.unroute('**/api/metrics/*')
})

browserTest('§9 polls pause while the page is hidden, and go on when it is seen again', async () => {
  const { page } = await signedIn()
  const openTab = await bareWindow(page)
  const tab = await openTab(product().url)
  const polls = async () =>
    Number(
      await tab.evaluate(
        "performance.getEntriesByType('resource').filter(({ name }) => name.includes('/api/network/')).length",
      ),
    )
  const first = await until(polls, (count) => count > 0)
  // Seen, it polls every 3 s.
  await until(polls, (count) => count > first)

  await openTab('about:blank')
  await until(
    () => tab.evaluate('document.visibilityState'),
    (state) => state === 'hidden',
  )
  await tab.evaluate('performance.setResourceTimingBufferSize(10_000)')
  // What was on its way comes to its end; then nothing comes for longer than two polls would take to begin.
  let [hidden, since] = [await polls(), Date.now()]
  await until(
    polls,
    (count) => {
      if (count !== hidden) [hidden, since] = [count, Date.now()]
      return Date.now() - since > 8000
    },
    30,
  )

  await tab.activate()
  await until(polls, (count) => count > hidden)
})
