import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { call } from '../support/browser/api'
import { browserTest, closeBrowser, expectGoodPage, openPage } from '../support/browser/browserTest'
import { signUp, startProduct, type Product } from '../support/browser/startProduct'
import { until } from '../support/platform/until'

let product: Product

beforeAll(async () => {
  product = await startProduct({ QUARTERDECK_SAMPLE: 'off' })
})
afterAll(async () => {
  await closeBrowser()
  await product.close()
})

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
const hasLine = (page: Page, text: string) => log(page).getByText(text, { exact: true }).first().waitFor()

async function type(page: Page, command: string): Promise<void> {
  await page.getByLabel('Command', { exact: true }).fill(command)
  await page.keyboard.press('Enter')
}

browserTest('the console, its tools, power, a crash, and a platform that dies and comes back', async () => {
  const { page, errors } = await openPage(product.url)
  await signUp(page, product)
  await call(page, 'POST', '/deployments', { name: 'world', type: 'scalable' })
  await mkdir(join(product.dataDir, 'nfsshare/world'), { recursive: true })
  await writeFile(join(product.dataDir, 'nfsshare/world/main.js'), PROGRAM)
  await call(page, 'PATCH', '/deployments/world', {
    content: 'name: world\ntype: scalable\ndescription: Where everybody meets\ndataDirectory: /world\nrun: { command: ["node", "main.js"] }\nready: Done\nstop: { command: stop, timeoutSeconds: 5 }\nresources: { cpu: 500m, memory: 1Gi }\n',
  })
  await call(page, 'POST', '/deployments/world/toggle', { enabled: true })

  // Output and commands.
  await page.getByRole('link', { name: /-world/ }).click()
  await status(page).getByText('Online').waitFor()
  await hasLine(page, 'Done (1.0s)!')
  await type(page, 'hello')
  await hasLine(page, 'heard hello')
  await type(page, 'markup')
  await hasLine(page, '<img src=x onerror="window.hacked = 1">link')
  expect(await page.evaluate('window.hacked')).toBeUndefined()
  await expectGoodPage(page, 'instance-console')

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
  await page.getByRole('searchbox', { name: 'Search the console' }).or(page.getByLabel('Search the console')).fill('line 4999')
  await page.getByText('1 of 1').or(page.getByText('– of 1')).waitFor()
  await page.keyboard.press('Enter')
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
  expect([await power('Stop').isDisabled(), await power('Restart').isDisabled(), await power('Kill').isDisabled()]).toEqual([true, true, true])
  await power('Start').click()
  await status(page).getByText('Online').waitFor()
  const runs = () => log(page).getByText('[System] Instance state changed to: RUNNING', { exact: true }).count()
  const before = await until(runs)
  await power('Restart').click()
  await until(runs, (count) => count > before)
  await status(page).getByText('Online').waitFor()

  // A crash: seen, counted, started again, and its capsule.
  await type(page, 'crash')
  await hasLine(page, '[System] Ended by itself with exit code 3.')
  await status(page).getByText('Online').waitFor()
  await page.getByRole('tab', { name: 'Details' }).click()
  await page.getByRole('heading', { name: 'Instance Details' }).waitFor()
  await page.getByRole('button', { name: 'Show' }).click()
  await page.getByLabel(/^The last \d+ lines$/).waitFor()
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
  await product.kill()
  await hasLine(page, '[System] Socket closed unexpectedly.')
  await page.getByText('Disconnected – reconnecting').waitFor()
  await product.restart()
  await page.getByText('Connected', { exact: true }).waitFor()
  await type(page, 'after')
  await hasLine(page, 'heard after')
  expect(await log(page).getByText('heard before', { exact: true }).count()).toBe(1)

  // Kill asks, ends it, and goes home after a second.
  await power('Kill').click()
  await page.getByRole('dialog').getByRole('button', { name: 'Kill', exact: true }).click()
  await page.getByRole('heading', { name: 'Network Overview' }).waitFor()
  await page.getByRole('link', { name: /-world/ }).getByText('Offline').waitFor()
  expect(errors.filter((error) => !/WebSocket|ERR_CONNECTION_REFUSED/.test(error))).toEqual([])
})
