import type { RefObject } from 'react'
import { useEffect, useRef } from 'react'
import { useSelector } from 'react-redux'
import { useLocation } from 'react-router-dom'
import { selectShown } from '../palette/paletteSlice'

/**
 * Moves the focus to `main` when another page is shown, unless the page or a control outside of the console has it. The
 * next Tab then leads to the page's first control instead of through the navigation again, and screen readers read
 * there.
 */
export function useFocusOfNewPage(main: RefObject<HTMLElement | null>): void {
  const { pathname } = useLocation()
  // All directories are one page, which moves the focus to their rows itself.
  const page = /^\/files(?=\/|$)/.exec(pathname)?.[0] ?? pathname
  const isPaletteOpen = useSelector(selectShown) !== null
  const focused = useRef(page)
  useEffect(() => {
    // The palette gives the focus back to where it was when it closes.
    if (isPaletteOpen || focused.current === page) return
    focused.current = page
    const active = document.activeElement
    if (active === null || active === document.body || active.closest('.header'))
      main.current?.focus({ preventScroll: true })
  }, [main, page, isPaletteOpen])
}
