import type { Page } from 'playwright-core'
import { browserTest, expectGoodPage } from '../support/browser/browserTest'
import { status, useInstancePages } from '../support/browser/instancePages'

const { signedIn, run } = useInstancePages()

const pane = (page: Page, deployment: string) =>
  page.getByRole('region', { name: new RegExp(`^Console of \\w+-${deployment}$`) })
const line = (page: Page, deployment: string, text: string) =>
  pane(page, deployment).getByRole('log').getByText(text, { exact: true }).first()
const target = (page: Page, deployment: string) => page.getByRole('switch', { name: new RegExp(`-${deployment}$`) })

async function send(page: Page, command: string): Promise<void> {
  await page.getByLabel('Command', { exact: true }).fill(command)
  await page.keyboard.press('Enter')
}

browserTest(
  'a command reaches all consoles side by side, or the chosen one; a stopped instance refuses it',
  async () => {
    const { page, errors } = await signedIn()
    await run(page, 'harbour')
    await run(page, 'island')

    // From the overview.
    await page.goto('/')
    await page.getByRole('button', { name: 'Select', exact: true }).click()
    await page.getByRole('checkbox', { name: /-harbour$/ }).check()
    await page.getByRole('checkbox', { name: /-island$/ }).check()
    await page.getByRole('link', { name: 'Open consoles side by side' }).click()
    await line(page, 'harbour', 'Done (1.0s)!').waitFor()
    await line(page, 'island', 'Done (1.0s)!').waitFor()

    await send(page, 'to both')
    await line(page, 'harbour', 'heard to both').waitFor()
    await line(page, 'island', 'heard to both').waitFor()

    await page.keyboard.press('Alt+Shift+2')
    expect(await target(page, 'harbour').isChecked()).toBe(false)
    await send(page, 'to the island')
    await line(page, 'island', 'heard to the island').waitFor()

    // The address is a bookmark. What the server keeps of a console tells whether the other one got the command.
    await page.reload()
    await line(page, 'island', 'heard to the island').waitFor()
    await send(page, 'again')
    await line(page, 'harbour', 'heard again').waitFor()
    expect(await line(page, 'harbour', 'heard to the island').count()).toBe(0)
    const bookmark = page.url()

    // Wide output scrolls in its own console.
    await page.keyboard.press('Alt+Shift+1')
    await send(page, 'print 500')
    await line(page, 'harbour', 'line 500').waitFor()
    await pane(page, 'harbour').getByRole('log').hover()
    await page.mouse.wheel(0, -2000)
    await pane(page, 'harbour').getByRole('button', { name: 'Jump to bottom' }).waitFor()
    expect(await pane(page, 'island').getByRole('button', { name: /^Jump/ }).count()).toBe(0)
    await pane(page, 'harbour').getByRole('button', { name: 'Jump to bottom' }).click()
    await expectGoodPage(page, 'consoles')

    await pane(page, 'island')
      .getByRole('link', { name: /-island$/ })
      .click()
    // The consoles stay until the page of the instance is drawn, and say "Connected" too.
    const stop = page.getByRole('button', { name: 'Stop', exact: true })
    await stop.waitFor()
    // A power action without a connection is only logged (product §8).
    await page.getByText('Connected', { exact: true }).waitFor()
    await stop.click()
    await status(page).getByText('Offline').waitFor()
    await page.goto(bookmark)
    await pane(page, 'island').getByText('Offline', { exact: true }).waitFor()
    await pane(page, 'island').getByText('Connected', { exact: true }).waitFor()
    await send(page, 'who is there')
    await line(page, 'harbour', 'heard who is there').waitFor()
    await pane(page, 'island').getByText('The instance is not running.').waitFor()
    expect(await pane(page, 'harbour').getByText('The instance is not running.').count()).toBe(0)
    expect(errors).toEqual([])
  },
)

browserTest('on a small phone the command line for all consoles is on the first screen', async () => {
  const { page } = await signedIn()
  const addresses: string[] = []
  for (const name of ['north', 'south']) {
    await run(page, name)
    addresses.push(`instances=${page.url().split('/').at(-1)}`)
  }
  await page.setViewportSize({ width: 320, height: 460 })
  await page.goto(`/consoles?${addresses.join('&')}`)
  await line(page, 'north', 'Done (1.0s)!').waitFor()
  const [command, log, navigation] = await Promise.all(
    [
      page.getByLabel('Command', { exact: true }),
      pane(page, 'north').getByRole('log'),
      page.getByRole('navigation', { name: 'Main' }),
    ].map(async (part) => (await part.boundingBox())!),
  )
  expect(command!.y + command!.height).toBeLessThanOrEqual(navigation!.y)
  expect(log!.height).toBeGreaterThan(40)
})
