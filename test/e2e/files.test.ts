import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Download, Page } from 'playwright-core'
import { browserTest, expectGoodPage, openPage } from '../support/browser/browserTest'
import { inReach } from '../support/browser/inReach'
import { signUp, useProduct } from '../support/browser/startProduct'
import { until } from '../support/platform/until'

const product = useProduct({ QUARTERDECK_SAMPLE: 'off' })
let share: string

beforeAll(() => {
  share = join(product().dataDir, 'nfsshare')
})

const row = (page: Page, name: string) =>
  page.getByRole('row').filter({ has: page.locator('bdi').getByText(name, { exact: true }) })
const act = async (page: Page, name: string, action: string) => {
  await row(page, name)
    .getByRole('button', { name: `Actions for ${name}` })
    .click()
  await page.getByRole('menuitem', { name: action, exact: true }).click()
}
const dialog = (page: Page) => page.getByRole('dialog')
const gone = (page: Page) => dialog(page).waitFor({ state: 'detached' })
const bytesOf = async (download: Download) => readFile(await download.path())
const closeTransfers = (page: Page) =>
  page.getByRole('region', { name: 'Transfers' }).getByRole('button', { name: 'Close' }).click()

/** The menu of a row is above the panel of transfers and the selection bar, and at its button. */
async function checkMenus(page: Page) {
  await mkdir(join(share, 'menus'))
  for (let number = 1; number <= 40; number += 1) await writeFile(join(share, 'menus', `${number}.txt`), '')
  for (const width of [1440, 360]) {
    await page.setViewportSize({ width, height: 800 })
    await page.goto(`${product().url}/files/menus`)
    await page.getByRole('checkbox', { name: 'Select 1.txt' }).check()
    const file = { name: `${width}.txt`, mimeType: 'text/plain', buffer: Buffer.from('a') }
    await page.getByLabel('Files to upload').setInputFiles(file)
    const panel = await page.getByRole('region', { name: 'Transfers' }).boundingBox()
    // The row directly above the panel.
    const buttons = await page.getByRole('button', { name: /^Actions for / }).all()
    for (const button of buttons.reverse()) {
      const { y, height } = (await button.boundingBox())!
      if (y + height > panel!.y) continue
      await button.click()
      break
    }
    const items = await page.getByRole('menuitem').all()
    expect(items).toHaveLength(4)
    for (const item of items) await until(() => inReach(item))
  }

  // A heading that is wider than the items leaves the menu at its button.
  await writeFile(join(share, 'menus', '0.bin'), Buffer.alloc(10))
  await page.goto(`${product().url}/files/menus`)
  await page.getByText('0.bin', { exact: true }).click()
  await page.getByText('This file cannot be edited here').waitFor()
  const menu = (await page.getByRole('menu').boundingBox())!
  const button = (await page.getByRole('button', { name: 'Actions for 0.bin' }).boundingBox())!
  expect(Math.abs(menu.x + menu.width - button.x - button.width)).toBeLessThan(8)
}

browserTest('every action of the Files page changes the disk as expected, byte for byte', async () => {
  const { page, errors } = await openPage(product().url)
  await signUp(page, product())
  await page.getByRole('link', { name: 'Files', exact: true }).click()
  await page.getByText('This directory is empty').waitFor()
  await page.getByText('Synced', { exact: true }).waitFor()
  await expectGoodPage(page, 'files-empty')

  // A directory for all further steps, with special URL characters in its name.
  const base = '100% #1'
  await page.getByRole('button', { name: 'Create New' }).click()
  await page.getByRole('tab', { name: 'Directory' }).click()
  await dialog(page).getByLabel('Directory name').fill(base)
  await expectGoodPage(page, 'files-create')
  await dialog(page).getByRole('button', { name: 'Create' }).click()
  await gone(page)
  await row(page, base).getByRole('link').click()
  await page.getByText('This directory is empty').waitFor()
  expect((await stat(join(share, base))).isDirectory()).toBe(true)

  await page.getByRole('button', { name: 'Create New' }).click()
  await dialog(page).getByLabel('File name').fill('empty.txt')
  await page.keyboard.press('Enter')
  await gone(page)
  await row(page, 'empty.txt').waitFor()
  expect(await readFile(join(share, base, 'empty.txt'))).toHaveLength(0)

  // Uploads: binary content, and a name conflict.
  const bytes = Buffer.from(Array.from({ length: 300_000 }, (_, index) => (index * 31) % 256))
  const choose = (name: string, buffer: Buffer) =>
    page.getByLabel('Files to upload').setInputFiles({ name, mimeType: 'application/octet-stream', buffer })
  await choose('data.bin', bytes)
  await row(page, 'data.bin').waitFor()
  expect((await readFile(join(share, base, 'data.bin'))).equals(bytes)).toBe(true)
  await closeTransfers(page)
  await choose('data.bin', Buffer.from('second'))
  await dialog(page).getByText('exists already').waitFor()
  await expectGoodPage(page, 'files-conflict')
  await dialog(page).getByRole('button', { name: 'Keep both' }).click()
  await row(page, 'data (2).bin').waitFor()
  await choose('data.bin', Buffer.from('third'))
  await dialog(page).getByRole('button', { name: 'Replace' }).click()
  await page.getByText('2 of 2 uploaded').waitFor()
  expect(await readFile(join(share, base, 'data.bin'), 'utf8')).toBe('third')
  expect(await readFile(join(share, base, 'data (2).bin'), 'utf8')).toBe('second')
  await expectGoodPage(page, 'files-uploaded')
  // The transfers panel collapses after the uploads.
  await page.getByRole('region', { name: 'Transfers' }).getByRole('listitem').first().waitFor({ state: 'detached' })
  await expectGoodPage(page, 'files-transfers')
  await closeTransfers(page)

  // Downloads of a single file, and of several files as a zip.
  const [single] = await Promise.all([page.waitForEvent('download'), act(page, 'data.bin', 'Download')])
  expect(single.suggestedFilename()).toBe('data.bin')
  expect((await bytesOf(single)).toString()).toBe('third')
  await page.getByRole('checkbox', { name: 'Select data.bin' }).click()
  await page.getByRole('checkbox', { name: 'Select data (2).bin' }).click()
  await page.getByText('2 selected').waitFor()
  await expectGoodPage(page, 'files-selection')
  // Shift+click selects a range, and the checkboxes show it.
  const boxOf = (name: string) => page.getByRole('checkbox', { name: `Select ${name}`, exact: true })
  await boxOf('empty.txt').click({ modifiers: ['Shift'] })
  await page.getByText('3 selected').waitFor()
  for (const name of ['data.bin', 'data (2).bin', 'empty.txt']) expect(await boxOf(name).isChecked()).toBe(true)
  await boxOf('empty.txt').click()
  await page.getByText('2 selected').waitFor()
  expect(await boxOf('empty.txt').isChecked()).toBe(false)
  const [several] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Download', exact: true }).click(),
  ])
  expect(several.suggestedFilename()).toBe('files.zip')
  const unpacked = await mkdtemp(join(tmpdir(), 'quarterdeck-zip-'))
  await several.saveAs(join(unpacked, 'files.zip'))
  execFileSync(process.execPath, [require.resolve('7z-wasm/cli.js'), 'x', '-y', 'files.zip'], {
    cwd: unpacked,
    stdio: 'ignore',
  })
  expect(await readFile(join(unpacked, 'data.bin'), 'utf8')).toBe('third')
  expect(await readFile(join(unpacked, 'data (2).bin'), 'utf8')).toBe('second')
  await rm(unpacked, { recursive: true })

  // Move by dialog, and back by drag and drop.
  await page.getByRole('button', { name: 'Move', exact: true }).click()
  await mkdir(join(share, base, 'sub'))
  await dialog(page).getByLabel('Destination').fill('.//sub/')
  await dialog(page).getByText(`/nfsshare/${base}/sub/`).waitFor()
  await expectGoodPage(page, 'files-move')
  await dialog(page).getByRole('button', { name: 'Move' }).click()
  await gone(page)
  expect((await readdir(join(share, base, 'sub'))).sort()).toEqual(['data (2).bin', 'data.bin'])
  // Wait for the refreshed list: a row that moves under the pointer cannot be dragged.
  await row(page, 'data.bin').waitFor({ state: 'detached' })
  await row(page, 'sub').waitFor()
  await row(page, 'empty.txt').dragTo(row(page, 'sub'))
  await row(page, 'empty.txt').waitFor({ state: 'detached' })
  expect((await readdir(join(share, base, 'sub'))).sort()).toEqual(['data (2).bin', 'data.bin', 'empty.txt'])
  await row(page, 'sub').getByRole('link').click()
  await row(page, 'data.bin').waitFor()
  await row(page, 'empty.txt').dragTo(page.getByRole('navigation', { name: 'Directory' }).getByText(base))
  await row(page, 'empty.txt').waitFor({ state: 'detached' })
  expect(await readdir(join(share, base))).toContain('empty.txt')

  // Rename and delete. The menu is positioned at its button.
  const actions = row(page, 'data.bin').getByRole('button', { name: 'Actions for data.bin' })
  await actions.click()
  const offsets = async () => {
    const [button, menu] = await Promise.all([actions.boundingBox(), page.locator('.dropdown-menu').boundingBox()])
    return [
      Math.max(menu!.y - (button!.y + button!.height), button!.y - (menu!.y + menu!.height)),
      menu!.x + menu!.width - (button!.x + button!.width),
    ]
  }
  await until(offsets, (all) => all.every((offset) => Math.abs(offset) < 8))
  await page.getByRole('menuitem', { name: 'Rename', exact: true }).click()
  await dialog(page).getByLabel('New name').fill('emoji 🚢.bin')
  await dialog(page).getByRole('button', { name: 'Rename' }).click()
  await row(page, 'emoji 🚢.bin').waitFor()
  await page.locator('[role=row]:focus').getByText('emoji 🚢.bin').waitFor()
  await act(page, 'data (2).bin', 'Delete')
  await dialog(page).getByText('This action cannot be undone.').waitFor()
  await expectGoodPage(page, 'files-delete')
  await dialog(page).getByRole('button', { name: 'Delete' }).click()
  await gone(page)
  expect(await readdir(join(share, base, 'sub'))).toEqual(['emoji 🚢.bin'])
  await page.locator('[role=row]:focus').getByText('emoji 🚢.bin').waitFor()

  // Archive and unarchive.
  await page.getByRole('navigation', { name: 'Directory' }).getByText(base).click()
  await act(page, 'sub', 'Archive')
  // Notifications do not cover the toolbar or the header.
  await page.getByText(/^Created /).waitFor()
  for (const name of ['Refresh', 'Upload Files', 'Create New', 'Your account', 'Logout'])
    expect(await inReach(page.getByRole('button', { name }))).toBe(true)
  await row(page, 'sub.tar.gz').waitFor()
  expect(execFileSync('tar', ['-tzf', join(share, base, 'sub.tar.gz')], { encoding: 'utf8' })).toContain('emoji')
  await act(page, 'sub.tar.gz', 'Unarchive')
  await page.getByText(/^Extracted into/).waitFor()
  await row(page, 'sub (2)').waitFor()

  // A folder dropped from outside is accepted anywhere and keeps its structure.
  const dropped = await mkdtemp(join(tmpdir(), 'quarterdeck-drop-'))
  await mkdir(join(dropped, 'world/region/empty'), { recursive: true })
  await writeFile(join(dropped, 'world/level.dat'), 'level')
  await writeFile(join(dropped, 'world/region/r.0.0.mca'), bytes)
  const devTools = await page.context().newCDPSession(page)
  for (const type of ['dragEnter', 'dragOver', 'drop'] as const) {
    await devTools.send('Input.dispatchDragEvent', {
      type,
      x: 700,
      y: 500,
      data: { items: [], files: [join(dropped, 'world')], dragOperationsMask: 1 },
    })
    if (type === 'dragOver') await page.getByText('Drop files here to upload').waitFor()
  }
  await page.getByText('2 of 2 uploaded').waitFor()
  expect((await readdir(join(share, base, 'world'), { recursive: true })).sort()).toEqual([
    'level.dat',
    'region',
    'region/empty',
    'region/r.0.0.mca',
  ])
  expect((await readFile(join(share, base, 'world/region/r.0.0.mca'))).equals(bytes)).toBe(true)
  await closeTransfers(page)
  await row(page, 'world').waitFor()
  await rm(dropped, { recursive: true })

  // The editor keeps mixed line endings and windows-1252, and asks if the file changed in the meantime.
  await writeFile(join(share, base, 'crlf.properties'), 'a=1\r\nb=2\nc=3\r\n')
  await writeFile(join(share, base, 'latin.ini'), Buffer.from([0x6e, 0xef, 0x76, 0x0d, 0x0a]))
  await page.getByRole('button', { name: 'Refresh' }).click()
  await page.getByRole('button', { name: 'crlf.properties', exact: true }).click()
  await page.locator('.ace_text-input').focus()
  await page.keyboard.insertText('x')
  await expectGoodPage(page, 'files-editor')
  // The keyboard leaves the text as the dialog says: Esc, then Tab, or a second Esc, which asks first.
  await page.keyboard.press('Escape')
  await page.keyboard.press('Tab')
  await page.locator('button:focus').getByText('Cancel').waitFor()
  await page.keyboard.press('Shift+Tab')
  await page.keyboard.press('Escape')
  await page
    .getByRole('dialog', { name: 'Close without saving?' })
    .getByRole('button', { name: 'Keep editing' })
    .click()
  await page.keyboard.press('Control+S')
  await dialog(page).getByText('Saved', { exact: true }).waitFor()
  expect(await readFile(join(share, base, 'crlf.properties'), 'utf8')).toBe('xa=1\r\nb=2\nc=3\r\n')
  await writeFile(join(share, base, 'crlf.properties'), 'theirs')
  await page.locator('.ace_text-input').focus()
  await page.keyboard.insertText('y')
  await page.keyboard.press('Control+S')
  await page.getByRole('dialog', { name: 'File Changed' }).getByRole('button', { name: 'Reload' }).click()
  await dialog(page).getByText('theirs').waitFor()
  await dialog(page).getByRole('button', { name: 'Cancel' }).click()
  await gone(page)
  await page.getByRole('button', { name: 'latin.ini', exact: true }).click()
  await page.locator('.ace_text-input').focus()
  await page.keyboard.insertText('é')
  await page.keyboard.press('Control+S')
  await dialog(page).getByText('Saved', { exact: true }).waitFor()
  expect([...(await readFile(join(share, base, 'latin.ini')))]).toEqual([0xe9, 0x6e, 0xef, 0x76, 0x0d, 0x0a])
  // A character that windows-1252 lacks converts the file to UTF-8.
  await page.keyboard.insertText('→')
  await page.keyboard.press('Control+S')
  await dialog(page).getByText('UTF-8', { exact: true }).waitFor()
  expect(await readFile(join(share, base, 'latin.ini'), 'utf8')).toBe('é→nïv\r\n')
  await dialog(page).getByRole('button', { name: 'Cancel' }).click()
  await gone(page)
  await expectGoodPage(page, 'files-full')

  // The selection bar covers no row, however long the list is.
  await mkdir(join(share, base, 'many'))
  for (let number = 1; number <= 40; number += 1) await writeFile(join(share, base, 'many', `${number}.txt`), '')
  await page.getByRole('button', { name: 'Refresh' }).click()
  await row(page, 'many').getByRole('link').click()
  await boxOf('1.txt').click()
  await page.getByText('1 selected').waitFor()
  await page.keyboard.press('End')
  await page.locator('[role=row]:focus').getByText('40.txt').waitFor()
  const [last, bar] = await Promise.all([
    row(page, '40.txt').boundingBox(),
    page.getByRole('region', { name: 'Selection' }).boundingBox(),
  ])
  expect(last!.y + last!.height).toBeLessThanOrEqual(bar!.y)
  await checkMenus(page)
  expect(errors).toEqual([])
})
