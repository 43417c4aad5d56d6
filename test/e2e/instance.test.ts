import type { Locator, Page } from 'playwright-core'
import { bareWindow } from '../support/browser/bareTab'
import { browserTest, openPage } from '../support/browser/browserTest'
import { useInstancePages } from '../support/browser/instancePages'
import { until } from '../support/platform/until'

const { product, signedIn, run } = useInstancePages()

browserTest('the layout holds at every width, with notifications, dialogs and visible scroll bars', async () => {
  const { context: known, page: worker } = await signedIn()
  await run(worker, 'layout')
  const { page, context } = await openPage(product().url, { scrollBars: true })
  await context.addCookies(await known.cookies())
  await page.goto('/deployments')
  const create = page.getByRole('button', { name: 'Create Deployment' })
  await create.waitFor()

  // The header of an administrator shows every item, directly or in the menu.
  for (let width = 320; width <= 1300; width += 20) {
    await page.setViewportSize({ width, height: 600 })
    const header = await page.locator('.header').evaluate((element) => {
      const { right } = element.getBoundingClientRect()
      const shown = [...element.querySelectorAll('a, button')].filter((control) => control.getClientRects().length > 0)
      const beyond = shown.filter((control) => control.getBoundingClientRect().right > right)
      return { height: element.clientHeight, beyond: beyond.map((control) => control.textContent) }
    })
    expect({ width, ...header }).toEqual({ width, height: 56, beyond: [] })
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth)).toBe(true)
  }

  // §2: notifications appear at the top right below the header and do not block the page. Where there is room, they
  // cover no control, although the button ends at the right edge of the page.
  for (const width of [360, 768, 1000, 1440]) {
    await page.setViewportSize({ width, height: 600 })
    await page.getByRole('switch', { name: 'layout enabled' }).click()
    const toast = page.getByRole('region', { name: 'Notifications' }).getByText(/^Successfully (en|dis)abled layout$/)
    // Asked only while the instance runs.
    const disable = page.getByRole('dialog').getByRole('button', { name: 'Disable' })
    await toast.or(disable).first().waitFor()
    if (await disable.isVisible()) await disable.click()
    await toast.waitFor()
    const gaps = await page
      .locator('.toast')
      .last()
      .evaluate(async (element) => {
        // Wait for the slide-in animation.
        await Promise.all(element.getAnimations().map(({ finished }) => finished))
        const { top, right, left, bottom } = element.getBoundingClientRect()
        const covered = [...document.querySelectorAll('main :is(h1, a, button, input)')].filter((control) => {
          const box = control.getBoundingClientRect()
          return box.left < right && box.right > left && box.top < bottom && box.bottom > top
        })
        return {
          covered: window.innerWidth < 768 ? [] : covered.map((control) => control.outerHTML),
          isBelowHeader: top >= document.querySelector('.header')!.getBoundingClientRect().bottom,
          right: document.querySelector('.header')!.getBoundingClientRect().right - right,
          isWhole: left >= 0,
        }
      })
    expect({ width, ...gaps }).toEqual({
      width,
      covered: [],
      isBelowHeader: true,
      right: width === 360 ? 8 : 16,
      isWhole: true,
    })
    const ends = await page.evaluate(() =>
      ['main button.btn-primary', '.header-bar'].map((part) => {
        const element = document.querySelector(part)!
        const isBar = element.matches('.header-bar')
        return element.getBoundingClientRect().right - (isBar ? parseFloat(getComputedStyle(element).paddingRight) : 0)
      }),
    )
    expect(ends[0]).toBeCloseTo(ends[1]!, 0)
    await page.getByRole('button', { name: 'Dismiss' }).click()
    await toast.waitFor({ state: 'detached' })
  }

  // A dialog does not shift the page, with or without a scroll bar.
  const places = () =>
    page.evaluate(() =>
      ['h1', '.brand', '.header-logout', 'main']
        .map((part) => document.querySelector(part)!.getBoundingClientRect())
        .map(({ left, right, top }) => [left, right, top]),
    )
  for (const height of [400, 1200]) {
    await page.setViewportSize({ width: 1440, height })
    await page.evaluate(() => window.scrollTo(0, 30))
    // The click would move it out from below the header.
    await create.scrollIntoViewIfNeeded()
    const before = await places()
    await create.click()
    await page.getByRole('dialog').waitFor()
    expect(await places()).toEqual(before)
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    expect(await places()).toEqual(before)
  }
})

browserTest('§2 hovering one chart shows the same time on the other', async () => {
  const { page } = await signedIn()
  await run(page, 'charts')
  const now = Math.floor(Date.now() / 1000) * 1000
  // Recording an hour of metrics would take an hour.
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
      // Move the pointer again: a redrawn chart forgets it.
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

browserTest('the texts beside the status of an instance are not cut off at any width', async () => {
  const { page } = await signedIn()
  await run(page, 'cards')
  await page.route('**/instances', async (route) => {
    const response = await route.fetch()
    const answer = (await response.json()) as { data: { instances: object[] } }
    const instances = answer.data.instances.map((instance) => ({ ...instance, playerCount: null, draining: true }))
    await route.fulfill({ response, json: { ...answer, data: { instances } } })
  })
  const text = page.getByText('connections unknown, draining')
  await text.waitFor()
  for (const width of [360, 500, 600, 900, 1440]) {
    await page.setViewportSize({ width, height: 800 })
    const card = await page.getByRole('region', { name: 'Status' }).boundingBox()
    const { y, height } = (await text.boundingBox())!
    expect({ width, isWhole: y + height <= card!.y + card!.height }).toEqual({ width, isWhole: true })
  }
  await page.unroute('**/instances')
})

browserTest('the figures of an instance are not cut off at any width', async () => {
  const { page } = await signedIn()
  await run(page, 'figures')
  let shown: object = {}
  await page.route('**/instances', async (route) => {
    const response = await route.fetch()
    const answer = (await response.json()) as { data: { instances: object[] } }
    const instances = answer.data.instances.map((instance) => ({ ...instance, ...shown }))
    await route.fulfill({ response, json: { ...answer, data: { instances } } })
  })
  for (const figures of [
    { state: 'RUNNING', uptime: '123d 12h', cpu: 100, memory: { used: 121.23, total: 251.54 } },
    { state: 'STOPPING', uptime: '3h 12m', memory: { used: 0.0123, total: 23.54 } },
    { state: 'STOPPED', retry: { inMs: 60_000, attempt: 2, of: 5 } },
  ]) {
    shown = figures
    await page.reload()
    await page.getByRole('region', { name: 'Memory Usage', exact: true }).getByText('GiB').waitFor()
    for (const width of [320, 360, 500, 768, 1440]) {
      await page.setViewportSize({ width, height: 800 })
      const cut = await page.evaluate(() =>
        [...document.querySelectorAll('section.panel')].flatMap((card) => {
          const box = card.getBoundingClientRect()
          return [...card.querySelectorAll('span:not([aria-hidden]):not([aria-hidden] *)')]
            .filter((text) => {
              const range = document.createRange()
              range.selectNodeContents(text)
              const { right, bottom } = range.getBoundingClientRect()
              return right > box.right || bottom > box.bottom
            })
            .map((text) => text.textContent)
        }),
      )
      expect({ width, figures, cut }).toEqual({ width, figures, cut: [] })
    }
  }
  await page.unroute('**/instances')
})

/** In pixels. On a phone the navigation is at the bottom edge. */
const topOfNavigation = async (page: Page) => (await page.getByRole('navigation', { name: 'Main' }).boundingBox())!.y

browserTest('on a phone the command line is on the first screen, and the log follows the end there', async () => {
  const { page } = await signedIn()
  await run(page, 'phone')
  await page.setViewportSize({ width: 360, height: 760 })
  const command = page.getByLabel('Command', { exact: true })
  await command.fill('print 200')
  await page.keyboard.press('Enter')
  const last = page.getByRole('log').getByText('line 200', { exact: true })
  await last.waitFor()
  const [input, log, line] = await Promise.all(
    [command, page.getByRole('log'), last].map(async (part) => (await part.boundingBox())!),
  )
  expect(input!.y + input!.height).toBeLessThanOrEqual(await topOfNavigation(page))
  expect(log!.height).toBeGreaterThan(200)
  expect(Math.round(line!.y + line!.height)).toBe(Math.round(log!.y + log!.height))
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360)
  // One row of power buttons.
  const power = page.getByRole('group', { name: 'Power' }).getByRole('button')
  const tops = await power.evaluateAll((buttons) => buttons.map((button) => button.getBoundingClientRect().top))
  expect(new Set(tops).size).toBe(1)
})

browserTest('a low window shows the command line at once, and the newest lines when it has the focus', async () => {
  const { page } = await signedIn()
  await run(page, 'low')
  await page.setViewportSize({ width: 1366, height: 650 })
  const command = page.getByLabel('Command', { exact: true })
  const bottomOf = async (part: Locator) => {
    const { y, height } = (await part.boundingBox())!
    return Math.round(y + height)
  }
  expect(await page.evaluate(() => window.scrollY)).toBe(0)
  expect(await bottomOf(command)).toBeLessThan(650)
  // On top of the log, whose end is below the window.
  expect(await bottomOf(page.getByRole('log'))).toBeGreaterThan(650)
  await command.fill('print 200')
  await page.keyboard.press('Enter')
  const last = page.getByRole('log').getByText('line 200', { exact: true })
  await last.waitFor()
  await until(async () => (await bottomOf(last)) === (await bottomOf(page.getByRole('log'))))
  expect(await bottomOf(page.getByRole('log'))).toBeLessThan((await command.boundingBox())!.y)
})

browserTest('on a phone the command line of a blocked instance is on the first screen too', async () => {
  const { page } = await signedIn()
  await run(page, 'stuck')
  const minuteAgo = new Date(Date.now() - 60_000).toISOString()
  await page.route('**/instances', async (route) => {
    const response = await route.fetch()
    const answer = (await response.json()) as { data: { instances: object[] } }
    const blocked = {
      state: 'BLOCKED',
      blockedReason: 'Ended 5 times within 5 minutes, the last time with exit code 1',
      crashedAt: minuteAgo,
      lastExit: { reason: 'Ended by itself with exit code 1', at: minuteAgo },
    }
    const instances = answer.data.instances.map((instance) => ({ ...instance, ...blocked }))
    await route.fulfill({ response, json: { ...answer, data: { instances } } })
  })
  await page.setViewportSize({ width: 360, height: 780 })
  await page.reload()
  await page.getByRole('status', { name: 'Blocked' }).getByRole('button', { name: 'Open crash details' }).waitFor()
  const { y, height } = (await page.getByLabel('Command', { exact: true }).boundingBox())!
  expect(y + height).toBeLessThanOrEqual(await topOfNavigation(page))
  await page.unroute('**/instances')
})

browserTest('§9 polling pauses while the page is hidden and resumes when the page is visible again', async () => {
  const { page } = await signedIn()
  const openTab = await bareWindow(page)
  const tab = await openTab(product().url)
  const polls = async () =>
    Number(
      await tab.evaluate(
        "performance.getEntriesByType('resource').filter(({ name }) => name.includes('?instances=true')).length",
      ),
    )
  const first = await until(polls, (count) => count > 0)
  // A visible page polls every 3 s.
  await until(polls, (count) => count > first)

  await openTab('about:blank')
  await until(
    () => tab.evaluate('document.visibilityState'),
    (state) => state === 'hidden',
  )
  await tab.evaluate('performance.setResourceTimingBufferSize(10_000)')
  // In-flight requests finish; then no request starts for longer than two poll intervals.
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
