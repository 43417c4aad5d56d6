import type { Page } from 'playwright-core'

/** A control that is focused by the keyboard, and whether it or what it is a part of shows a ring. */
export interface Stop {
  control: string
  hasRing: boolean
}

/** Presses Tab until the focus leaves the page or comes back to the first control. */
export async function tabThrough(page: Page): Promise<Stop[]> {
  await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur())
  const stops: Stop[] = []
  for (let presses = 0; presses < 150; presses++) {
    await page.keyboard.press('Tab')
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
      return { control: focused.outerHTML.slice(0, 120), hasRing: hasRing(focused, 2) }
    })
    if (!stop) break
    stops.push(stop)
  }
  return stops
}
