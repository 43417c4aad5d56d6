import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { browserTest, expectGoodPage, takeScreenshot } from '../support/browser/browserTest'
import { status, useInstancePages } from '../support/browser/instancePages'
import { until } from '../support/platform/until'

const { product, signedIn, run } = useInstancePages()

const log = (page: Page) => page.getByRole('log', { name: 'Console output' })
/** The height of a row in pixels. */
const ROW = 18
/** Scrolls the log with the wheel and waits until scrolling has ended, because browsers scroll asynchronously. */
const roll = async (page: Page, rows: number) => {
  const by = rows * ROW
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

browserTest('the console works with its tools, power actions, a crash and a restart of the platform', async () => {
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

  // History: no consecutive duplicates; it survives a reload.
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

  // Many lines: only visible rows are rendered, and the log follows the end.
  await type(page, 'print 5000')
  await hasLine(page, 'line 5000')
  expect(await log(page).locator('*').count()).toBeLessThan(500)
  await log(page).hover()
  await page.mouse.wheel(0, -2000)
  const jump = page.getByRole('button', { name: /Jump to bottom/ })
  await jump.waitFor()
  // Sending returns to the end, with the command in the log.
  await type(page, 'print 3')
  await jump.waitFor({ state: 'detached' })
  await hasLine(page, '> print 3')
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

  // Power actions, with the state changes in the console.
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

  // A crash is shown and counted, the instance restarts, and the crash capsule is available.
  await type(page, 'crash')
  await hasLine(page, '[System] Ended by itself with exit code 3.')
  await until(runs, (count) => count > again)
  await status(page).getByText('Online').waitFor()
  await page.getByRole('tab', { name: 'Details' }).click()
  await page.getByRole('heading', { name: 'Instance Details', exact: true }).waitFor()
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

  // The charts follow the range, also after they were left and opened again.
  const times = () => page.locator('.apexcharts-xaxis-label').allTextContents()
  for (let round = 0; round < 2; round++) {
    await page.getByRole('button', { name: '1 hour', exact: true }).click()
    await page.getByRole('tab', { name: 'Console' }).click()
    await page.getByRole('tab', { name: 'Metrics' }).click()
    const before = await until(times, (found) => found.length > 0)
    await page.getByRole('button', { name: '15 min', exact: true }).click()
    await until(times, (found) => found.length > 0 && found[0] !== before[0])
    const memory = page.getByRole('region', { name: 'Memory metrics' })
    expect(await memory.locator('.apexcharts-yaxis-annotations').textContent()).toMatch(/^Limit .* MB$/)
  }

  // The platform is killed and restarted: no line is missing or duplicated.
  await page.getByRole('tab', { name: 'Console' }).click()
  await type(page, 'before')
  await hasLine(page, 'heard before')
  const place = await log(page).boundingBox()
  await product().kill()
  await hasLine(page, '[System] Socket closed unexpectedly.')
  await page.getByText('Disconnected – reconnecting').waitFor()
  // The message does not shift the layout.
  expect(await log(page).boundingBox()).toEqual(place)
  await product().restart()
  await page.getByText('Connected', { exact: true }).waitFor()
  await type(page, 'after')
  await hasLine(page, 'heard after')
  expect(await log(page).getByText('heard before', { exact: true }).count()).toBe(1)

  // Kill asks for confirmation, ends the instance and returns home after a second.
  await power('Kill').click()
  await page.getByRole('dialog').getByRole('button', { name: 'Kill', exact: true }).click()
  await page.getByRole('heading', { name: 'Network Overview', exact: true }).waitFor()
  await page
    .getByRole('link', { name: /-world/ })
    .getByText('Offline')
    .waitFor()
  expect(errors).toEqual([])
})

const numbered = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => `line ${from + index}`)
const clipboard = (page: Page) => page.evaluate(() => navigator.clipboard.readText())

/** The centers of the first and the last character of a line. */
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
  'a selection extends beyond rendered lines by dragging, by Shift+click after scrolling and by keyboard',
  async () => {
    const { page, context } = await signedIn()
    await context.grantPermissions(['clipboard-read', 'clipboard-write'])
    await run(page, 'select')
    await type(page, 'print 1000')
    await hasLine(page, 'line 1000')
    const { x, y } = (await log(page).boundingBox())!

    // Drag upwards out of the window until the view has scrolled 150 lines.
    const last = await endsOf(page, 'line 1000')
    await page.mouse.move(last.end.x, last.end.y)
    await page.mouse.down()
    await page.mouse.move(x + 100, y + 30, { steps: 3 })
    await page.mouse.move(x + 100, y - 40)
    // The view scrolls fast, so it may pass that line.
    await page.waitForFunction(() =>
      [...document.querySelectorAll('[data-line]')].some(
        (row) => Number(/^line (\d+)$/.exec(row.textContent ?? '')?.[1]) <= 850,
      ),
    )
    // Back over the text, scrolling stops.
    await page.mouse.move(last.start.x, y + 100)
    expect(await log(page).getByText('line 1000', { exact: true }).count()).toBe(0)
    await page.mouse.up()
    await page.keyboard.press('Control+C')
    const copied = (await clipboard(page)).split('\n')
    expect(copied.at(-1)).toBe('line 1000')
    expect(copied).toEqual(numbered(1001 - copied.length, 1000))
    expect(copied.length).toBeGreaterThan(100)
    expect(await page.evaluate(() => window.getSelection()!.toString().length)).toBeGreaterThan(100)
    await takeScreenshot(page, 'instance-selection', false)

    // The selection is copied even when it is out of view.
    await page.getByRole('button', { name: /Jump to bottom/ }).click()
    await type(page, 'print 500')
    await hasLine(page, 'line 500')

    // Click, scroll, Shift+click.
    await roll(page, -10)
    const from = await endsOf(page, 'line 480')
    await page.mouse.click(from.start.x, from.start.y)
    await roll(page, -200)
    await log(page).getByText('line 280', { exact: true }).waitFor()
    const to = await endsOf(page, 'line 280')
    await page.keyboard.down('Shift')
    await page.mouse.click(to.start.x, to.start.y)
    await page.keyboard.up('Shift')
    await page.getByRole('button', { name: 'Copy the selection, or all lines' }).click()
    await page.getByText('Copied the selection').first().waitFor()
    expect(await clipboard(page)).toBe(`${numbered(280, 479).join('\n')}\n`)
    await roll(page, 180)
    await log(page).getByText('line 460', { exact: true }).waitFor()
    await page.keyboard.press('Control+C')
    expect(await clipboard(page)).toBe(`${numbered(280, 479).join('\n')}\n`)

    // A word, a line, all lines, and extending the selection by a page.
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
    expect((await clipboard(page)).split('\n')).toEqual(numbered(460, 488))
    await page.keyboard.press('Control+A')
    await page.keyboard.press('Control+C')
    const all = await clipboard(page)
    expect(all).toContain(`${numbered(1, 1000).join('\n')}\n`)
    expect(all.endsWith('line 500')).toBe(true)

    // Focusing the command field returns the keyboard to it.
    await page.getByLabel('Command', { exact: true }).fill('heard')
    await page.keyboard.press('Control+A')
    await page.keyboard.press('Control+C')
    expect(await clipboard(page)).toBe('heard')
  },
)
