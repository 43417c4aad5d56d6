import { spawnSync } from 'node:child_process'
import { copyFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import type { ActionLog } from '../../src/contract/actionLog'
import { browserTest, expectGoodPage, openPage } from '../support/browser/browserTest'
import { difference, exportLog, keep, momentOf, picture, type Moment } from '../support/browser/moments'
import { register, useProduct } from '../support/browser/startProduct'
import { useStaticConsole } from '../support/browser/staticConsole'
import { codeOf } from '../support/platform/registerAccount'

const root = join(__dirname, '../..')
const product = useProduct({ QUARTERDECK_SAMPLE: 'off' })
const staticConsole = useStaticConsole()

const CANARY = 'Canary7731'
const password = `${CANARY}-password`
const toast = (page: Page, text: string) =>
  page.getByRole('region', { name: 'Notifications' }).getByText(text, { exact: true }).waitFor()
const power = (page: Page) => page.getByRole('region', { name: 'Status' })

const PROGRAM = `console.log('Done'); require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  console.log('ann issued server command: ' + line)
  if (line === 'stop') process.exit(0)
})`
const DEFINITION = `name: world
type: process
dataDirectory: /world
run:
  command: ["node", "-e", ${JSON.stringify(PROGRAM)}]
  env: { DATABASE: ${CANARY}-env }
ready: Done
`

async function write(page: Page, text: string): Promise<void> {
  await page.locator('.ace_text-input').focus()
  await page.keyboard.press('Control+A')
  await page.keyboard.insertText(text)
}

browserTest(
  'decisions §10: a log contains none of the secrets typed throughout the product and is played without a platform',
  async () => {
    const { page, context } = await openPage(product().url)
    const secrets = [CANARY, product().inviteCode!]
    const moments: Moment[] = []
    const moment = async (name: string, sign: string) => void moments.push(await momentOf(page, name, sign))

    const secret = await register(page, { inviteCode: product().inviteCode!, username: 'ann', password })
    secrets.push(secret)
    await page.getByRole('link', { name: 'Open Quarterdeck' }).click()
    await page.getByRole('heading', { name: 'Network Overview', exact: true }).waitFor()
    await page.getByRole('button', { name: 'Logout' }).click()

    await page.getByLabel('Username').fill('ann')
    await page.getByLabel('Password', { exact: true }).fill(`${password}-wrong`)
    await page.getByRole('button', { name: 'Sign In' }).click()
    await page.getByRole('alert').waitFor()
    await moment('refused', 'Welcome back. Sign in to take the helm.')
    await page.getByLabel('Password', { exact: true }).fill(password)
    await page.getByRole('button', { name: 'Sign In' }).click()
    const code = await codeOf(secret, 1)
    secrets.push(code)
    await page.getByLabel('Verification code').fill(code)
    await page.getByRole('button', { name: 'Verify Code' }).click()
    await page.getByRole('heading', { name: 'Network Overview', exact: true }).waitFor()
    secrets.push((await context.cookies()).find(({ name }) => name === 'token')!.value)

    // A deployment with a secret in its environment.
    await page.getByRole('link', { name: 'Deployments', exact: true }).click()
    await page.getByRole('button', { name: 'Create Deployment' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Process' }).click()
    await page.getByRole('dialog').getByLabel('Name').fill('world')
    await moment('dialog', 'No Proxy Found')
    await page.getByRole('dialog').getByRole('button', { name: 'Create', exact: true }).click()
    await toast(page, 'Successfully created world')
    await page.getByRole('article', { name: 'world' }).getByRole('link', { name: /Edit/ }).click()
    await write(page, DEFINITION)
    await page.keyboard.press('Control+S')
    await page.getByText('Changes saved successfully!').waitFor()
    await page.getByRole('link', { name: /Back/ }).first().click()
    await page.getByRole('switch', { name: 'world enabled' }).click()

    // Commands that contain secrets, and the output that quotes them.
    await page.getByRole('link', { name: 'Overview' }).click()
    await page.getByRole('link', { name: /-world/ }).click()
    await power(page).getByText('Online').waitFor()
    await page.getByText('Connected', { exact: true }).waitFor()
    for (const command of [`/login ${CANARY}-login`, `set password=${CANARY}-assigned`, 'list']) {
      await page.getByLabel('Command', { exact: true }).fill(command)
      await page.keyboard.press('Enter')
      await page.getByRole('log').getByText(`ann issued server command: ${command}`).waitFor()
    }
    await page.getByRole('tab', { name: 'Metrics' }).click()
    await page.getByRole('region', { name: 'CPU metrics' }).waitFor()
    await page.getByRole('tab', { name: 'Details' }).click()
    await page.getByRole('heading', { name: 'Instance Details', exact: true }).waitFor()
    await moment('details', 'Instance Details')

    // A database with generated credentials.
    await page.getByRole('link', { name: 'Databases' }).click()
    await page.getByRole('button', { name: 'Create SQL database' }).click()
    await page.getByLabel('Database name').fill('shop')
    await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click()
    const shop = page.getByRole('article', { name: 'shop', exact: true })
    await shop.getByRole('button', { name: 'Show password' }).click()
    const rows = await shop.locator('dl > div').all()
    for (const row of rows)
      if ((await row.locator('dt').innerText()) === 'Password') secrets.push(await row.locator('code').innerText())
    expect(secrets).toHaveLength(6)

    // Administration: an invite and a password.
    await page.getByRole('link', { name: 'Admin' }).click()
    await page.getByRole('tab', { name: 'Invite Codes' }).click()
    await page.getByRole('button', { name: 'Create Invite Code' }).click()
    await page.getByRole('dialog').getByLabel('Message').fill('for bob')
    await page.getByRole('dialog').getByRole('button', { name: 'Create', exact: true }).click()
    const invite = page.getByRole('listitem', { name: 'for bob', exact: true })
    const inviteCode = (await invite.locator('code').first().innerText()).trim()
    secrets.push(inviteCode)
    await page.getByRole('searchbox', { name: 'Search invite codes' }).fill(inviteCode)
    const bob = await openPage(product().url)
    secrets.push(await register(bob.page, { inviteCode, username: 'bob', password: `${CANARY}-bobs` }))
    for (const tab of ['Kubernetes Dashboard', 'User Management']) {
      await page.getByRole('tab', { name: tab }).click()
      await page.getByRole('tabpanel', { name: tab }).waitFor()
    }
    await page
      .getByRole('listitem', { name: 'bob', exact: true })
      .getByRole('button', { name: 'Actions for bob' })
      .click()
    await page.getByRole('menuitem', { name: 'Reset password', exact: true }).click()
    await page.getByRole('dialog').getByLabel('New password').fill(`${CANARY}-reset`)
    await page.getByRole('dialog').getByRole('button', { name: 'Show password' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Reset', exact: true }).click()
    await toast(page, 'Successfully reset the password of bob')
    // By keyboard, because notifications may cover the header and stay while the pointer is over them.
    await page.getByRole('button', { name: 'Your account' }).press('Enter')
    await page.getByRole('menuitem', { name: 'Change password' }).click()
    await page.getByLabel('Current password').fill(`${password}-not`)
    await page.getByLabel('New password').first().fill(`${password}-new`)
    await page.getByLabel('Repeat new password').fill(`${password}-new`)
    await page.getByLabel('Verification code').fill('773177')
    secrets.push('773177')
    await page.keyboard.press('Escape')

    // Files.
    await page.getByRole('link', { name: 'Files', exact: true }).click()
    await page.getByRole('link', { name: 'world' }).first().waitFor()
    await page.getByRole('button', { name: 'Create New' }).click()
    await page.getByRole('dialog').getByLabel('File name').fill('secrets.txt')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'secrets.txt', exact: true }).click()
    await page.locator('.ace_text-input').focus()
    await page.keyboard.insertText(`${CANARY}-in-a-file`)
    await page.keyboard.press('Control+S')
    await page.getByRole('dialog').getByText('Saved', { exact: true }).waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page
      .getByLabel('Files to upload')
      .setInputFiles({ name: 'upload.txt', mimeType: 'text/plain', buffer: Buffer.from(`${CANARY}-uploaded`) })
    await page.getByText('1 of 1 uploaded').waitFor()
    await page.getByRole('region', { name: 'Transfers' }).getByRole('button', { name: 'Close' }).click()
    await page.getByRole('button', { name: 'Dark theme' }).press('Enter')
    await moment('files', 'world')

    // An unknown URL, as from a stale link.
    await page.evaluate(() => {
      history.pushState(null, '', '/nowhere')
      dispatchEvent(new PopStateEvent('popstate'))
    })
    await page.getByRole('heading', { name: 'Page Not Found', exact: true }).waitFor()
    await page.getByText('Return Home').click()
    await page.getByRole('heading', { name: 'Network Overview', exact: true }).waitFor()
    await page.getByRole('link', { name: 'Deployments', exact: true }).click()
    await page.getByRole('article', { name: 'world' }).waitFor()
    await moment('deployments', 'No Proxy Found')

    // The file contains no secret, and the command line replays it to the same state.
    const { path, text } = await exportLog(page)
    // Match a numeric code only between non-digits, because timestamps are long rows of digits.
    const holds = (typed: string) =>
      /^\d+$/.test(typed) ? new RegExp(`(?<!\\d)${typed}(?!\\d)`).test(text) : text.includes(typed)
    for (const typed of secrets) expect({ typed, found: holds(typed) }).toEqual({ typed, found: false })
    const log = JSON.parse(text) as ActionLog
    expect(log.actions.length).toBeLessThan(2000)
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [join(root, 'node_modules/tsx/dist/cli.mjs'), join(root, 'test/replays/replay.ts'), path],
      { cwd: root, encoding: 'utf8' },
    )
    expect({ status, stderr }).toEqual({ status: 0, stderr: expect.not.stringContaining('not as recorded') })
    expect(stdout).toContain(`${log.actions.length} actions, as recorded`)
    if (process.env.KEEP_LOG) await copyFile(path, process.env.KEEP_LOG)

    expect(log.actions.map(({ type }) => type)).toEqual(
      expect.arrayContaining([
        'files/fileOpened',
        'configuration/draftSaved',
        'databases/nameTyped',
        'admin/dialogOpened',
        'account/accountDialogOpened',
        'console/commandSubmitted',
      ]),
    )

    // In another browser without a platform, the replay requests only static files and stores nothing.
    await product().stop()
    const other = await openPage(staticConsole())
    const asked: string[] = []
    const sockets: string[] = []
    other.page.on('request', (request) => asked.push(new URL(request.url()).pathname))
    other.page.on('websocket', (socket) => sockets.push(socket.url()))
    await other.page.goto('/#replay')
    await other.page.getByLabel('Choose file').setInputFiles(path)
    const bar = other.page.getByRole('region', { name: 'Replay', exact: true })
    await bar.waitFor()
    const position = bar.getByLabel('Position')
    const compared: Record<string, number> = {}
    for (const { name, sign, picture: recorded, actions } of moments) {
      await position.fill(String(actions - 1))
      await bar.getByText(`${actions} of ${log.actions.length}`).waitFor()
      await other.page.getByText(sign, { exact: true }).first().waitFor()
      const replayed = await picture(other.page)
      await keep(`replay-${name}-recorded`, recorded)
      await keep(`replay-${name}-replayed`, replayed)
      compared[name] = await difference(other.page, recorded, replayed)
    }
    expect(Object.keys(compared)).toEqual(['refused', 'dialog', 'details', 'files', 'deployments'])
    for (const [name, share] of Object.entries(compared))
      expect({ name, isSame: share < 0.002, share }).toMatchObject({ name, isSame: true })

    // Play, step and search; the replayed page ignores clicks.
    await position.fill('-1')
    await bar.getByLabel('Speed').selectOption('2')
    await bar.getByRole('button', { name: 'Play' }).click()
    await bar.getByText('Before the first action').waitFor({ state: 'detached' })
    await bar.getByRole('button', { name: 'Pause' }).click()
    await position.fill(String(log.actions.length - 1))
    await other.page.getByRole('link', { name: 'Files', exact: true }).click()
    await bar.getByRole('button', { name: 'Step back' }).click()
    await bar.getByText(`${log.actions.length - 1} of ${log.actions.length}`).waitFor()
    await bar.getByRole('button', { name: 'Show actions' }).click()
    const list = other.page.getByRole('complementary', { name: 'Actions' })
    await list.getByLabel('Search actions').fill('session/started')
    await list
      .getByRole('button', { name: /session\/started/ })
      .first()
      .click()
    await list.getByText('session.current', { exact: true }).waitFor()
    // Some steps later the page after sign-in is shown.
    const startedAt = log.actions.findIndex(({ type }) => type === 'session/started')
    const shownAt = log.actions.findIndex(({ type }, at) => at > startedAt && type === 'route/changed')
    for (let at = startedAt; at < shownAt; at++) await bar.getByRole('button', { name: 'Step forward' }).click()
    await other.page.getByRole('heading', { name: 'Network Overview', exact: true }).waitFor()
    await expectGoodPage(other.page, 'replay')
    for (const width of [360, 1440]) {
      await other.page.setViewportSize({ width, height: 800 })
      const listBox = (await list.boundingBox())!
      const barBox = (await bar.boundingBox())!
      expect({
        top: listBox.y,
        between: barBox.y - (listBox.y + listBox.height),
        below: 800 - (barBox.y + barBox.height),
      }).toEqual({ top: 0, between: 0, below: 0 })
    }
    // On a narrow screen all buttons are in one row.
    await other.page.setViewportSize({ width: 360, height: 800 })
    const [first, last] = [
      await bar.getByRole('button', { name: 'Step back' }).boundingBox(),
      await bar.getByRole('button', { name: 'Leave' }).boundingBox(),
    ]
    expect(last?.y).toBe(first?.y)
    await other.page.setViewportSize({ width: 1440, height: 900 })
    expect(asked.filter((path) => !/^\/(?:$|assets\/|theme\.js$|favicon\.svg$)/.test(path))).toEqual([])
    expect(sockets).toEqual([])
    expect(await other.context.cookies()).toEqual([])
    expect(await other.page.evaluate(() => localStorage.length + sessionStorage.length)).toBe(0)
    expect(other.errors).toEqual([])

    // Leaving the replay returns to the session.
    await product().restart()
    await page.goto('/replay')
    await page.getByRole('link', { name: 'Back to the console' }).click()
    await page.getByRole('heading', { name: 'Network Overview', exact: true }).waitFor()

    // A failed load of the replay code shows an error.
    await page.route(/\/assets\/\d+\..*\.js$/, (route) => route.abort())
    await page.goto('/replay')
    await page.getByText('The replay could not be loaded. Reload the page.').waitFor()
  },
)
