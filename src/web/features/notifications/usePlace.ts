import type { RefObject } from 'react'
import { useLayoutEffect, useRef } from 'react'
import type { Obstacle } from './freePlace'
import { freePlace } from './freePlace'

/** The user's controls. While a dialog is open: that dialog, and above all its controls. */
const CONTROLS =
  '.modal-content, h1, .modal-title, label, legend, a[href], button, input, select, textarea, [role="menu"]'
/** Weight of the focused control, above all others. */
const FOCUSED = 100
/** The gap between the notifications and the lower edge of the window. */
const MARGIN_PX = 8

/**
 * Keeps the notifications off the controls of the page, or off an open dialog or menu, also when these change.
 * @returns the ref of their region
 */
export function usePlace(count: number): RefObject<HTMLDivElement | null> {
  const region = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    const element = region.current
    if (!element || count === 0) return
    let frame: number | undefined
    const place = () => {
      frame = undefined
      const { top: shown, bottom, left, right } = element.getBoundingClientRect()
      element.style.removeProperty('top')
      const { top: own } = element.getBoundingClientRect()
      const height = bottom - shown
      const top = freePlace(
        { top: own, bottom: own + height, left, right },
        obstacles(element),
        window.innerHeight - MARGIN_PX,
        shown,
      )
      if (top !== own) element.style.top = `${top}px`
    }
    const placeSoon = () => {
      frame ??= requestAnimationFrame(place)
    }
    place()
    const observer = new MutationObserver(placeSoon)
    observer.observe(document.body, { childList: true, subtree: true })
    window.addEventListener('resize', placeSoon)
    document.addEventListener('scroll', placeSoon, { capture: true, passive: true })
    document.addEventListener('focusin', placeSoon)
    return () => {
      if (frame !== undefined) cancelAnimationFrame(frame)
      observer.disconnect()
      window.removeEventListener('resize', placeSoon)
      document.removeEventListener('scroll', placeSoon, { capture: true })
      document.removeEventListener('focusin', placeSoon)
    }
  }, [count])
  return region
}

function obstacles(region: HTMLElement): Obstacle[] {
  const dialog = [...document.querySelectorAll('[role="dialog"]')].at(-1)
  return [...(dialog ?? document).querySelectorAll(CONTROLS)].flatMap((element) => {
    const { top, bottom, left, right } = element.getBoundingClientRect()
    const isSeen = bottom > top && bottom > 0 && top < window.innerHeight
    if (!isSeen || region.contains(element)) return []
    return { top, bottom, left, right, weight: element === document.activeElement ? FOCUSED : 1 }
  })
}
