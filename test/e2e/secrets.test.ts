import { spawnSync } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { actionRules } from '../../src/web/actionLog/redact/redaction'
import type { ActionLog } from '../../src/contract/actionLog'
import { call } from '../support/browser/api'
import { browserTest, expectGoodPage, openPage } from '../support/browser/browserTest'
import { signUpOnPages, useProduct } from '../support/browser/startProduct'

const root = join(__dirname, '../..')
const product = useProduct({ QUARTERDECK_SAMPLE: 'off' })

/** Typed as a password and into every other field. Contains characters special in URLs, JSON, YAML and patterns. */
const PASSWORD = 'Cänary7731&"+secret'
/** Typed as the argument of an unknown command and into other fields. */
const KEY = 'c4naryKey-of-a-plugin'
/** Typed as a verification code. */
const CODE = '773177'
const SECRETS = [PASSWORD, KEY, CODE]

/** Prints its input in every common way: plain, encoded, wrapped and colored. */
const PROGRAM = `console.log('Done'); require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const said = line.split(' ').at(-1)
  console.log('You said: ' + line)
  console.log('GET /x?' + new URLSearchParams({ said }) + '&' + encodeURIComponent(said) + ' ' + JSON.stringify({ said }))
  for (const before of ['', 'a', 'ann:']) console.log('header ' + Buffer.from(before + said + '\\\\n').toString('base64'))
  for (const width of [5, 9]) for (let at = 0; at < line.length; at += width) console.log(line.slice(at, at + width))
  console.log('in red: ' + said.slice(0, 4) + String.fromCharCode(27) + '[31m' + said.slice(4))
  console.log('end of ' + line.length)
  console.log(process.version)
})`
const DEFINITION = `name: world\ntype: process\ndescription: ${JSON.stringify('A world')}\ndataDirectory: /world\nrun: { command: ["node", "-e", ${JSON.stringify(PROGRAM)}] }\nready: Done\nstop: { timeoutSeconds: 1 }\n`

const FIELDS =
  'input:not([type=checkbox]):not([type=radio]):not([type=file]):not([type=range]), textarea:not(.ace_text-input)'

/** Types other secrets into every visible field, key by key. */
async function typeIntoAll(page: Page | ReturnType<Page['locator']>): Promise<void> {
  const fields = page.locator(FIELDS).filter({ visible: true })
  await fields.first().waitFor()
  for (const field of await fields.all()) {
    if (!(await field.isEditable())) continue
    for (const secret of [KEY, PASSWORD]) {
      await field.fill('')
      await field.pressSequentially(secret)
    }
  }
}

async function inDialog(page: Page, open: () => Promise<unknown>): Promise<void> {
  await open()
  const dialog = page.getByRole('dialog')
  await dialog.waitFor()
  await typeIntoAll(dialog)
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
}

async function typeIntoEditor(page: Page): Promise<void> {
  await page.locator('.ace_text-input').last().focus()
  await page.keyboard.type(`# ${PASSWORD} ${KEY}`)
}

const header = (page: Page, name: string) => page.getByRole('banner').getByRole('link', { name, exact: true })

async function exported(page: Page, withOutput: boolean): Promise<{ path: string; text: string }> {
  await page.getByRole('button', { name: 'Your account' }).press('Enter')
  await page.getByRole('menuitem', { name: 'Export action log' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.waitFor()
  if (withOutput) await dialog.getByLabel('With console output').check()
  await dialog.getByLabel('Search the file').fill(PASSWORD)
  await dialog.getByText('Not in the file.', { exact: true }).waitFor()
  await dialog.getByLabel('Search the file').fill('world')
  await dialog.getByText(/^Found in /).waitFor()
  if (withOutput) await expectGoodPage(page, 'export')
  const download = page.waitForEvent('download')
  await dialog.getByRole('button', { name: 'Save' }).click()
  const path = await (await download).path()
  return { path, text: await readFile(path, 'utf8') }
}

/** All strings of a log including its keys, joined without line ends. */
function textsOf(value: unknown): string {
  if (typeof value === 'string') return value
  if (typeof value !== 'object' || value === null) return ''
  return Object.entries(value)
    .map(([key, inner]) => `${/^\d+$/.test(key) ? '' : key}${textsOf(inner)}`)
    .join('')
}

/** The lines of output in a log, joined, without their type letter and color codes. */
const outputOf = (log: ActionLog) =>
  log.actions
    .flatMap(({ type, payload }) =>
      type === 'console/linesReceived'
        ? (payload as unknown[]).filter((line) => typeof line === 'string').map((line) => String(line).slice(1))
        : [],
    )
    .join('')
    // eslint-disable-next-line no-control-regex -- colours begin with that character
    .replaceAll(/\u001b\[[0-9;]*m/g, '')

/** @returns the encodings in which a text contains a secret. */
function waysOf(secret: string, text: string): string[] {
  const ways: Record<string, string> = {
    plain: secret,
    URL: encodeURIComponent(secret),
    form: new URLSearchParams({ s: secret }).toString().slice(2),
    JSON: JSON.stringify(secret).slice(1, -1),
    'most of it': secret.slice(0, -3),
    reversed: [...secret].reverse().join(''),
  }
  for (const before of ['', 'a', 'aa']) {
    // The middle of the Base64 text, which does not depend on the surrounding text.
    ways[`Base64 after ${before.length}`] = Buffer.from(before + secret)
      .toString('base64')
      .slice(4, -4)
  }
  // Match digits only between non-digits, because timestamps contain digits.
  const holds = (way: string) =>
    /^\d+$/.test(way) ? new RegExp(`(?<!\\d)${way}(?!\\d)`).test(text) : text.includes(way)
  return Object.entries(ways).flatMap(([name, way]) => (way.length >= 6 && holds(way) ? [name] : []))
}

browserTest(
  'decisions §10: an exported log contains none of the secrets typed into any field or command, in any encoding',
  async () => {
    const share = join(product().dataDir, 'nfsshare')
    const { page, errors } = await openPage(product().url)
    await signUpOnPages(page, product())
    await call(page, 'POST', '/deployments', { name: 'world', type: 'process' })
    await call(page, 'PATCH', '/deployments/world', { content: DEFINITION })
    await call(page, 'POST', '/deployments/world/toggle', { enabled: true })
    // Enough databases and deployments for their search fields to appear.
    for (let count = 1; count <= 6; count++) await call(page, 'POST', '/database/sql', { name: `shop${count}` })
    for (let count = 1; count <= 8; count++)
      await call(page, 'POST', '/deployments', { name: `room${count}`, type: 'process' })
    await writeFile(join(share, 'notes.txt'), 'Hello\n')

    // Type the secrets into fields of other pages before the fields where they belong.
    await page.getByRole('searchbox', { name: 'Search instances' }).waitFor()
    await typeIntoAll(page)
    await page.getByRole('searchbox', { name: 'Search instances' }).fill('')
    await header(page, 'Deployments').click()
    await page.getByRole('searchbox', { name: 'Search deployments' }).waitFor()
    await typeIntoAll(page)
    await page.getByRole('searchbox', { name: 'Search deployments' }).fill('')
    await inDialog(page, () => page.getByRole('button', { name: 'Create Deployment' }).click())
    await page.getByRole('link', { name: 'Edit world' }).click()
    await typeIntoEditor(page)
    await page.getByRole('link', { name: /Back/ }).first().click()
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /Discard/ })
      .click()

    await header(page, 'Files').click()
    await page.getByRole('button', { name: 'notes.txt', exact: true }).waitFor()
    await typeIntoAll(page)
    await page.getByLabel('Filter by name').fill('')
    await inDialog(page, () => page.getByRole('button', { name: 'Create New' }).click())
    await inDialog(page, async () => {
      await page.getByRole('button', { name: 'Actions for notes.txt' }).click()
      await page.getByRole('menuitem', { name: 'Rename', exact: true }).click()
    })
    await page.getByRole('checkbox', { name: 'Select notes.txt' }).check()
    await inDialog(page, () => page.getByRole('button', { name: 'Move', exact: true }).click())
    await page.getByRole('button', { name: 'notes.txt', exact: true }).click()
    await typeIntoEditor(page)
    const saved = page.waitForEvent('download')
    await page.keyboard.press('Control+Shift+L')
    await saved
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('button', { name: /Discard/ }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })

    await header(page, 'Databases').click()
    await page.getByRole('article', { name: 'shop1', exact: true }).waitFor()
    await typeIntoAll(page)
    await inDialog(page, () => page.getByRole('button', { name: 'Create SQL database' }).click())

    await header(page, 'Admin').click()
    await page.getByRole('tab', { name: 'Invite Codes' }).click()
    await typeIntoAll(page.getByRole('tabpanel', { name: 'Invite Codes' }))
    await inDialog(page, () => page.getByRole('button', { name: 'Create Invite Code' }).click())
    await page.getByRole('tab', { name: 'User Management' }).click()
    await typeIntoAll(page.getByRole('tabpanel', { name: 'User Management' }))
    await page.getByRole('searchbox', { name: 'Search users' }).fill('')
    await page.getByRole('button', { name: 'Actions for ann' }).click()
    await inDialog(page, () => page.getByRole('menuitem', { name: 'Reset password', exact: true }).click())
    await page.getByRole('button', { name: 'Your account' }).press('Enter')
    await page.getByRole('menuitem', { name: 'Activity' }).click()
    await page.getByRole('searchbox', { name: 'Search activity' }).waitFor()
    await typeIntoAll(page)
    await page.getByRole('button', { name: 'Your account' }).press('Enter')
    await page.getByRole('menuitem', { name: 'API keys' }).click()
    await inDialog(page, () => page.getByRole('button', { name: 'Create API key' }).click())

    // Commands in a console beside others.
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox').fill('Consoles')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Consoles', exact: true }).waitFor()
    const choose = page.getByRole('button', { name: 'Choose Consoles' })
    await inDialog(page, () => choose.click())
    await choose.click()
    await page
      .getByRole('dialog')
      .getByRole('checkbox', { name: /-world$/ })
      .check()
    await page.getByRole('button', { name: 'Done' }).click()
    await page.getByText('Connected', { exact: true }).waitFor()
    for (const command of [`setkey ${KEY}`, `login ${PASSWORD}`]) {
      await page.getByLabel('Command', { exact: true }).fill(command)
      await page.keyboard.press('Enter')
      await page.getByRole('log').getByText(`end of ${command.length}`).last().waitFor()
    }
    await page.getByLabel('Search the console').fill(KEY)

    // Console commands: a plain, an unknown and a sign-in command, each printed in all encodings.
    await header(page, 'Overview').click()
    await page.getByRole('link', { name: /-world/ }).click()
    await page.getByText('Connected', { exact: true }).waitFor()
    for (const command of [
      `say ${PASSWORD}`,
      `say ${KEY}`,
      `setkey ${KEY}`,
      `login ${PASSWORD}`,
      `mysql -u root -p${PASSWORD}`,
      PASSWORD,
    ]) {
      await page.getByLabel('Command', { exact: true }).fill(command)
      await page.keyboard.press('Enter')
      await page.getByRole('log').getByText(`end of ${command.length}`).last().waitFor()
    }
    await page.getByRole('log').click()
    await page.keyboard.press('Control+F')
    await page.getByLabel('Search the console').waitFor()
    await typeIntoAll(page.getByRole('tabpanel'))

    // Type the secrets where they belong; the server rejects them.
    await page.getByRole('button', { name: 'Your account' }).press('Enter')
    await page.getByRole('menuitem', { name: 'Change password' }).click()
    for (const label of ['Current password', 'New password', 'Repeat new password'])
      await page.getByLabel(label, { exact: true }).fill(PASSWORD)
    await page.getByLabel('Verification code').fill(CODE)
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /Change/ })
      .click()
    await page.getByRole('dialog').getByRole('alert').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })

    for (const withOutput of [false, true]) {
      const { path, text } = await exported(page, withOutput)
      const log = JSON.parse(text) as ActionLog
      for (const secret of SECRETS)
        expect({
          withOutput,
          ways: [...waysOf(secret, text), ...waysOf(secret, textsOf(log)), ...waysOf(secret, outputOf(log))],
        }).toEqual({ withOutput, ways: [] })
      // What the definition quotes is hidden; this is not in it.
      if (withOutput) expect(outputOf(log)).toContain(process.version)
      const { status, stdout } = spawnSync(
        process.execPath,
        [join(root, 'node_modules/tsx/dist/cli.mjs'), join(root, 'test/replays/replay.ts'), path],
        { cwd: root, encoding: 'utf8' },
      )
      expect({ status, stdout }).toEqual({ status: 0, stdout: expect.stringContaining('as recorded') })

      // Every field in the store was typed into.
      const written = new Set(log.actions.map(({ type }) => type))
      const typing = Object.keys(actionRules).filter(
        (type) => /(?:typed|edited|searched|filtered)$/i.test(type) && !/^(?:login|registration)\//.test(type),
      )
      expect(typing.filter((type) => !written.has(type))).toEqual([])
    }

    // After a reload the console does not know the secrets; typed into the wrong fields, they are masked all the same.
    await page.goto(`${product().url}/files/${encodeURIComponent(KEY)}`)
    await page.getByText('Directory Not Found').waitFor()
    await header(page, 'Files').click()
    await page.getByRole('button', { name: 'notes.txt', exact: true }).waitFor()
    await typeIntoAll(page)
    await page.getByLabel('Filter by name').fill('')
    await inDialog(page, () => page.getByRole('button', { name: 'Create New' }).click())
    await header(page, 'Deployments').click()
    await inDialog(page, () => page.getByRole('button', { name: 'Create Deployment' }).click())
    await page.getByRole('button', { name: 'Your account' }).press('Enter')
    await page.getByRole('menuitem', { name: 'Export action log' }).click()
    const download = page.waitForEvent('download')
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
    const afterReload = await readFile(await (await download).path(), 'utf8')
    for (const secret of [PASSWORD, KEY]) expect(waysOf(secret, afterReload)).toEqual([])
    expect(afterReload).toContain('notes.txt')
    expect(errors).toEqual([])
  },
)

browserTest('decisions §10: a log contains nothing typed to register or sign in, in any field', async () => {
  const { page } = await openPage(product().url)
  await page.goto('/register')
  await typeIntoAll(page)
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('alert').waitFor()
  await page
    .getByRole('link', { name: /Sign in|Login/i })
    .first()
    .click()
  // The registration fields stay in the page until the login page is rendered.
  await page.getByRole('button', { name: 'Sign In' }).waitFor()
  await typeIntoAll(page)
  await page.getByRole('button', { name: 'Sign In' }).click()
  await page.getByRole('alert').waitFor()
  const download = page.waitForEvent('download')
  await page.keyboard.press('Control+Shift+L')
  const text = await readFile(await (await download).path(), 'utf8')
  expect([...waysOf(PASSWORD, text), ...waysOf(KEY, text)]).toEqual([])
})
