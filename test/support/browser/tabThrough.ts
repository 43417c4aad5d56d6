import type { Page } from 'playwright-core'

/**
 * A control that is focused by the keyboard, whether it or what it is a part of shows a ring, and whether the header or
 * its links at the lower edge cover it.
 */
export interface Stop {
  control: string
  hasRing: boolean
  isCovered: boolean
}

/** Presses Tab, or another key, until the focus leaves the page or comes back to the first control. */
export async function tabThrough(page: Page, key = 'Tab'): Promise<Stop[]> {
  await page.evaluate(() => {
    ;(document.activeElement as HTMLElement | null)?.blur()
    for (const element of document.querySelectorAll('[data-tabbed]')) element.removeAttribute('data-tabbed')
  })
  const stops: Stop[] = []
  for (let presses = 0; presses < 150; presses++) {
    await page.keyboard.press(key)
    const stop = await page.evaluate(() => {
      const focused = document.activeElement
      if (!focused || focused === document.body || focused.hasAttribute('data-tabbed')) return undefined
      focused.setAttribute('data-tabbed', '')
      const hasRing = (element: Element | null, levels: number): boolean => {
        if (!element) return false
        // The ring of a control that fills a row is that of its pseudo-element.
        const isVisible = [getComputedStyle(element), getComputedStyle(element, '::after')].some(
          ({ outlineStyle, outlineWidth, outlineColor }) =>
            outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2 && !/, 0\)$/.test(outlineColor),
        )
        return isVisible || (levels > 0 && hasRing(element.parentElement, levels - 1))
      }
      const { x, y, width, height } = focused.getBoundingClientRect()
      const shown = document.elementFromPoint(x + width / 2, y + height / 2)
      const isCovered = !focused.closest('.header') && shown?.closest('.header') != null
      return { control: focused.outerHTML.slice(0, 120), hasRing: hasRing(focused, 2), isCovered }
    })
    if (!stop) break
    stops.push(stop)
  }
  return stops
}
