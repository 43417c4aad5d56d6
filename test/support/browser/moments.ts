import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import type { ActionLog } from '../../../src/contract/actionLog'
import { SCREENSHOTS } from './browserTest'

/** A place in an action log with the picture of its page. `sign` is a text that is visible on the loaded page. */
export type Moment = { name: string; sign: string; picture: Buffer; actions: number }

/** Exports the action log by its keys. @returns the path of the file, and its text */
export async function exportLog(page: Page): Promise<{ path: string; text: string }> {
  const download = page.waitForEvent('download')
  await page.keyboard.press('Control+Shift+L')
  const path = await (await download).path()
  return { path, text: await readFile(path, 'utf8') }
}

const countOf = ({ text }: { text: string }) => (JSON.parse(text) as ActionLog).actions.length

/** A screenshot without what is not recorded: focus, password fields, and the place that notifications have found. */
export async function picture(page: Page): Promise<Buffer> {
  await page.mouse.move(0, 0)
  await page.evaluate(() => {
    ;(document.activeElement as HTMLElement | null)?.blur()
    // The page's policy refuses the style sheet that the option `style` of a screenshot inserts.
    const sheet = new CSSStyleSheet()
    sheet.replaceSync(
      'input[type=password] { color: transparent !important } [aria-label=Replay] { display: none !important } [aria-label=Notifications] { top: 5rem !important }',
    )
    document.adoptedStyleSheets = [sheet]
  })
  const shown = await page.screenshot({ animations: 'disabled', caret: 'initial' })
  await page.evaluate(() => (document.adoptedStyleSheets = []))
  return shown
}

/** A screenshot during which no action was recorded, so that it matches the log. */
export async function momentOf(page: Page, name: string, sign: string): Promise<Moment> {
  await page.getByText(sign, { exact: true }).first().waitFor()
  for (;;) {
    const before = countOf(await exportLog(page))
    const shown = await picture(page)
    if (countOf(await exportLog(page)) === before) return { name, sign, picture: shown, actions: before }
  }
}

/** @returns the share of pixels that differ. */
export async function difference(page: Page, one: Buffer, other: Buffer): Promise<number> {
  return page.evaluate(
    async (pictures) => {
      const [first, second] = await Promise.all(
        pictures.map(async (base64) => {
          const bitmap = await createImageBitmap(await (await fetch(`data:image/png;base64,${base64}`)).blob())
          const canvas = new OffscreenCanvas(bitmap.width, bitmap.height)
          const context = canvas.getContext('2d')!
          context.drawImage(bitmap, 0, 0)
          return context.getImageData(0, 0, bitmap.width, bitmap.height)
        }),
      )
      if (first!.width !== second!.width || first!.height !== second!.height) return 1
      let differing = 0
      for (let at = 0; at < first!.data.length; at += 4) {
        if ([0, 1, 2].some((channel) => Math.abs(first!.data[at + channel]! - second!.data[at + channel]!) > 24))
          differing += 1
      }
      return differing / (first!.data.length / 4)
    },
    [one.toString('base64'), other.toString('base64')],
  )
}

/** Stores a picture for the reader of a failure. */
export async function keep(name: string, png: Buffer): Promise<void> {
  await mkdir(SCREENSHOTS, { recursive: true })
  await writeFile(join(SCREENSHOTS, `${name}.png`), png)
}
