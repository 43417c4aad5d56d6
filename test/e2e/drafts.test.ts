import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { browserTest, expectGoodPage, openPage } from '../support/browser/browserTest'
import { signUp, useProduct } from '../support/browser/startProduct'
import { until } from '../support/platform/until'

const product = useProduct({ QUARTERDECK_SAMPLE: 'off' })

/** The names of the drafts in IndexedDB. */
const keptDrafts = (page: Page) =>
  page.evaluate(
    () =>
      new Promise<string[]>((resolve, reject) => {
        const opening = indexedDB.open('quarterdeck-drafts-1')
        opening.onerror = () => reject(new Error(String(opening.error)))
        opening.onsuccess = () => {
          const reading = opening.result.transaction('drafts').objectStore('drafts').getAll()
          reading.onsuccess = () => {
            opening.result.close()
            resolve(reading.result.map(({ name }: { name: string }) => name))
          }
        }
      }),
  )

browserTest('decisions §18: drafts are offered after the tab was killed until they are saved', async () => {
  const share = join(product().dataDir, 'nfsshare')
  await mkdir(join(share, 'config'), { recursive: true })
  await writeFile(join(share, 'lobby.yml'), 'motd: Hello\n')
  await writeFile(join(share, 'other.yml'), 'a: 1\n')
  const { context, page: first, errors } = await openPage(product().url)
  await signUp(first, product())

  await first.getByRole('link', { name: 'Deployments', exact: true }).click()
  await first.getByRole('button', { name: 'Create Process' }).click()
  await first.getByRole('dialog').getByLabel('Name').fill('bot')
  await first.getByRole('dialog').getByRole('button', { name: 'Create', exact: true }).click()
  await first.getByRole('link', { name: 'Edit bot' }).click()
  await first.locator('.ace_text-input').focus()
  await first.keyboard.insertText('# typed\n')
  await until(
    () => keptDrafts(first),
    (names) => names.includes('bot'),
  )
  // Closing without unload handlers is like a crash.
  await first.close()

  const second = await context.newPage()
  second.setDefaultTimeout(45_000)
  await second.goto('/files')
  await second.getByRole('button', { name: 'lobby.yml', exact: true }).click()
  await second.locator('.ace_text-input').focus()
  await second.keyboard.insertText('# a text of a file\n')
  await until(
    () => keptDrafts(second),
    (names) => names.includes('/nfsshare/lobby.yml'),
  )
  await second.close()

  const page = await context.newPage()
  page.setDefaultTimeout(45_000)
  await page.goto('/files')
  await page.getByText('You have an unsaved text of lobby.yml').waitFor()
  await expectGoodPage(page, 'drafts-files')
  await page.getByRole('button', { name: 'other.yml', exact: true }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('You have an unsaved text of lobby.yml').waitFor()
  await expectGoodPage(page, 'drafts-other-file')
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('button', { name: 'Open', exact: true }).click()
  await dialog.getByRole('button', { name: 'Restore' }).waitFor()
  await expectGoodPage(page, 'drafts-editor')
  await dialog.getByRole('button', { name: 'Restore' }).click()
  await dialog.getByText('Unsaved changes').waitFor()
  await dialog.getByRole('button', { name: 'Save Changes' }).click()
  await dialog.getByText('Saved', { exact: true }).waitFor()
  expect(await readFile(join(share, 'lobby.yml'), 'utf8')).toBe('# a text of a file\nmotd: Hello\n')
  await until(
    () => keptDrafts(page),
    (names) => !names.includes('/nfsshare/lobby.yml'),
  )

  await page.goto('/deployments')
  await page.getByText('You have unsaved changes to the configuration of bot').waitFor()
  await expectGoodPage(page, 'drafts-deployments')
  await page.getByRole('link', { name: 'Open', exact: true }).click()
  await page.getByRole('button', { name: 'Restore' }).waitFor()
  await expectGoodPage(page, 'drafts-configuration')
  await page.getByRole('button', { name: 'Restore' }).click()
  await page.getByText('Unsaved changes', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Save Changes' }).click()
  await page.getByText('Changes saved successfully!').waitFor()
  expect(await page.locator('.ace_content').innerText()).toContain('# typed')
  await until(
    () => keptDrafts(page),
    (names) => names.length === 0,
  )

  await page.getByRole('link', { name: 'Back' }).click()
  await page.getByRole('button', { name: 'Create Deployment', exact: true }).click()
  await dialog.getByLabel('Name').fill('half-filled')
  await until(
    () => keptDrafts(page),
    (names) => names.length === 1,
  )
  await page.reload()
  await page.getByRole('button', { name: 'Create Deployment', exact: true }).click()
  await dialog.getByRole('button', { name: 'Restore' }).waitFor()
  await expectGoodPage(page, 'drafts-form')
  await dialog.getByRole('button', { name: 'Restore' }).click()
  expect(await dialog.getByLabel('Name').inputValue()).toBe('half-filled')
  expect(errors).toEqual([])
})
