import type { RefObject } from 'react'
import { useLayoutEffect } from 'react'

/** Publishes the height of the panel as a CSS variable, so that the page can be scrolled out from under it. */
export function useDockHeight(panel: RefObject<HTMLElement | null>) {
  useLayoutEffect(() => {
    const element = panel.current
    if (!element) return
    const { style } = document.documentElement
    const observer = new ResizeObserver(() => style.setProperty('--qd-dock-height', `${element.offsetHeight}px`))
    observer.observe(element)
    return () => {
      observer.disconnect()
      style.removeProperty('--qd-dock-height')
    }
  }, [panel])
}
