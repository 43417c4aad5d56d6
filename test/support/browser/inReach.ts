import type { Locator } from 'playwright-core'

/** Whether no other element covers the center of an element. */
export const inReach = (found: Locator) =>
  found.evaluate((element) => {
    const { x, y, width, height } = element.getBoundingClientRect()
    return element.contains(document.elementFromPoint(x + width / 2, y + height / 2))
  })
