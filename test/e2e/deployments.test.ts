import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { BrowserContext, Page } from 'playwright-core'
import { browserTest, expectGoodPage, openPage } from '../support/browser/browserTest'
import { freePort } from '../support/platform/freePort'
import { signUp, useProduct } from '../support/browser/startProduct'
import { until } from '../support/platform/until'

const product = useProduct({ QUARTERDECK_SAMPLE: 'off' })

const PROGRAM = `
const greeting = process.env.GREETING ?? 'none'
console.log('Done (1.0s)! greeting ' + greeting)
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  if (line === 'stop' || line === 'end') process.exit(0)
})`

/** Replaces the text in the editor, like typing. */
async function write(page: Page, text: string): Promise<void> {
  await page.locator('.ace_text-input').focus()
  await page.keyboard.press('Control+A')
  await page.keyboard.insertText(text)
}

const card = (page: Page, name: string) => page.getByRole('article', { name, exact: true })
const toast = (page: Page, text: string) =>
  page.getByRole('region', { name: 'Notifications' }).getByText(text, { exact: true }).waitFor()

const types = [
  { type: 'proxy', button: 'Create Proxy', choice: undefined },
  { type: 'persistent', button: 'Create Deployment', choice: 'Persistent' },
  { type: 'scalable', button: 'Create Deployment', choice: 'Scalable' },
  { type: 'process', button: 'Create Deployment', choice: 'Process' },
] as const

browserTest(
  'a deployment of every type is created, edited, run and restarted, and deleted unless it is the proxy',
  async () => {
    const { context, page, errors } = await openPage(product().url)
    await signUp(page, product())
    await page.getByRole('link', { name: 'Deployments', exact: true }).click()
    for (const text of ['No Proxy Found', 'No Games Found', 'No Processes Found']) await page.getByText(text).waitFor()
    await expectGoodPage(page, 'deployments-empty')

    for (const [at, { type, button, choice }] of types.entries()) {
      const name = `my-${type}`
      await page.getByRole('button', { name: button }).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByRole('button', { name: 'Create', exact: true }).click()
      await dialog.getByText('Deployment name is required').waitFor()
      if (choice) await dialog.getByRole('button', { name: choice }).click()
      if (type === 'persistent') {
        // The only node is preselected.
        await until(
          () => dialog.getByLabel('Node').inputValue(),
          (node) => node !== '',
        )
        await expectGoodPage(page, 'deployments-create')
      }
      await dialog.getByLabel('Name').fill(name)
      await dialog.getByRole('button', { name: 'Create', exact: true }).click()
      await toast(page, `Successfully created ${name}`)
      await card(page, name).getByText('Inactive').waitFor()
      const steps = page.getByRole('region', { name: `Three steps to start ${name}` })
      await steps.waitFor()
      if (at === 0) await expectGoodPage(page, 'deployments-steps')

      await card(page, name)
        .getByRole('link', { name: `Edit ${name}` })
        .click()
      await page.getByRole('heading', { name, exact: true }).waitFor()
      await page.getByText('Editing configuration file').waitFor()
      const node =
        type === 'persistent'
          ? `${(
              await page
                .locator('.ace_line')
                .filter({ hasText: /^node: / })
                .first()
                .innerText()
            ).trim()}\n`
          : ''
      const text = `# by hand\nname: ${name}\ntype: ${type}\n${node}dataDirectory: /${name}\nrun: { command: ["node", "main.js"], env: { GREETING: hello }, port: ${await freePort()} }\nready: 'Done'\nstop: { command: ${type === 'proxy' ? 'end' : 'stop'}, timeoutSeconds: 5 }\n`
      await write(page, text.replace('timeoutSeconds: 5', 'timeoutSeconds: soon'))
      await page.getByRole('button', { name: 'Save Changes' }).click()
      await page.getByText('Failed to save deployment configuration content').waitFor()
      const mark = page.locator('.ace_gutter-cell.ace_error')
      await mark.waitFor()
      expect(await mark.evaluate((cell) => getComputedStyle(cell).backgroundImage)).toContain('url(')
      if (at === 0) await expectGoodPage(page, 'editor-error')
      await write(page, text)
      if (at === 0) {
        // Leaving with unsaved changes asks first, and Keep editing keeps them.
        await page.getByRole('link', { name: 'Overview', exact: true }).click()
        await page.getByRole('button', { name: 'Keep editing' }).click()
        await page.getByRole('heading', { name, exact: true }).waitFor()
      }
      if (at === 1) {
        await page.getByRole('button', { name: 'Show changes' }).click()
        await page.getByRole('dialog').getByText('# by hand').waitFor()
        await expectGoodPage(page, 'editor-changes')
        await page.keyboard.press('Escape')
        await page.getByRole('dialog').waitFor({ state: 'detached' })
      }
      await page.keyboard.press('Control+S')
      await page.getByText('Changes saved successfully!').waitFor()
      if (at === 0) await expectGoodPage(page, 'editor-saved')
      if (at === 2) await saveInTwoTabs(context, page, text)
      await page.getByRole('link', { name: 'Back' }).click()

      await writeFile(join(product().dataDir, 'nfsshare', name, 'main.js'), PROGRAM)
      await card(page, name)
        .getByRole('switch', { name: `${name} enabled` })
        .click()
      await toast(page, `Successfully enabled ${name}`)
      await card(page, name).getByText('Active', { exact: true }).waitFor()
      // Enabled and configured; its files are seen when the page is opened again.
      await page.reload()
      await card(page, name).getByText('Active', { exact: true }).waitFor()
      await steps.waitFor({ state: 'detached' })
    }

    await page.getByRole('link', { name: 'Overview', exact: true }).click()
    for (const { type } of types)
      await page
        .getByRole('link', { name: new RegExp(`-my-${type}`) })
        .getByText('Online')
        .waitFor()
    await expectGoodPage(page, 'overview-full')
    await page.goBack()
    await expectGoodPage(page, 'deployments-full')

    for (const { type } of types) {
      const name = `my-${type}`
      await card(page, name)
        .getByRole('button', { name: `Restart ${name}` })
        .click()
      // It runs, so it asks first.
      await page.getByRole('dialog').getByText(`Restart 1 instance of ${name}?`).waitFor()
      if (type === 'proxy') await expectGoodPage(page, 'deployments-restart')
      await page.getByRole('dialog').getByRole('button', { name: 'Restart' }).click()
      await toast(page, `Successfully restarted ${name}`)
      if (type === 'proxy') {
        expect(
          await card(page, name)
            .getByRole('button', { name: `Delete ${name}` })
            .count(),
        ).toBe(0)
        await card(page, name)
          .getByRole('switch', { name: `${name} enabled` })
          .click()
        await page.getByRole('dialog').getByRole('button', { name: 'Disable' }).click()
        await toast(page, `Successfully disabled ${name}`)
        continue
      }
      await card(page, name)
        .getByRole('button', { name: `Delete ${name}` })
        .click()
      const dialog = page.getByRole('dialog')
      await dialog.getByText(`Are you sure you want to delete the deployment "${name}"?`).waitFor()
      await dialog.getByText('This action cannot be undone.').waitFor()
      if (type === 'process') await expectGoodPage(page, 'deployments-delete')
      await dialog.getByRole('button', { name: 'Delete' }).click()
      await toast(page, `Successfully deleted ${name}`)
      await card(page, name).waitFor({ state: 'detached' })
    }
    await page.getByText('No Games Found').waitFor()
    expect(errors).toEqual([])
  },
)

/** A save in one tab is not overwritten by another tab without asking. Ends with `text` saved again. */
async function saveInTwoTabs(context: BrowserContext, page: Page, text: string): Promise<void> {
  const other = await context.newPage()
  await other.goto(page.url())
  await other.locator('.ace_text-input').waitFor()
  await write(other, `${text}# of the other tab\n`)
  await other.keyboard.press('Control+S')
  await other.getByText('Changes saved successfully!').waitFor()
  await other.close()

  const asked = page.getByRole('dialog', { name: 'Configuration Changed' })
  await write(page, `${text}# of this tab\n`)
  await page.keyboard.press('Control+S')
  await asked.getByRole('button', { name: 'Cancel' }).waitFor()
  await expectGoodPage(page, 'editor-conflict')
  await asked.getByRole('button', { name: 'Reload' }).click()
  await page.locator('.ace_content').getByText('# of the other tab').waitFor()
  await write(page, text)
  await page.keyboard.press('Control+S')
  await page.getByText('Changes saved successfully!').waitFor()
}
