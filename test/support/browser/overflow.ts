import type { Page } from 'playwright-core'

/** What is wider than the window: the page itself, or a control outside all that scrolls sideways. */
export const overflowOf = (page: Page) =>
  page.evaluate(() => {
    const { clientWidth, scrollWidth } = document.documentElement
    const scrolls = (element: Element | null): boolean =>
      element !== null && (/auto|scroll/.test(getComputedStyle(element).overflowX) || scrolls(element.parentElement))
    const controls = [...document.querySelectorAll('a, button, input, select, textarea, [role=switch], h1, h2')]
    const cut = controls.filter((control) => {
      const { left, right, width, height } = control.getBoundingClientRect()
      const isHidden = width <= 1 || height <= 1 || control.closest('.visually-hidden, .ace_editor') !== null
      return !isHidden && (right > clientWidth + 0.5 || left < -0.5) && !scrolls(control.parentElement)
    })
    const wide = scrollWidth > clientWidth ? [`the page: ${scrollWidth} of ${clientWidth} pixels`] : []
    return [...wide, ...cut.map((control) => control.outerHTML.slice(0, 120))]
  })
