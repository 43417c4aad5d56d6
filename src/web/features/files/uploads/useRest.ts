import type { RefObject } from 'react'
import { useEffect, useEffectEvent, useRef } from 'react'

/** Of nobody looking at it. In milliseconds. */
const REST_MS = 5000

/** Says when a panel has had its time: `active` that long, with neither the pointer nor the focus on it. */
export function useRest(panel: RefObject<HTMLElement | null>, active: boolean, onRested: () => void) {
  const isHovered = useRef(false)
  const rest = useEffectEvent(onRested)

  // The browser's own events: React's also tell of the dialogs that the panel opens elsewhere on the page.
  useEffect(() => {
    const element = panel.current
    if (!element) return
    const hovers = ({ type }: PointerEvent) => {
      isHovered.current = type === 'pointerenter'
    }
    element.addEventListener('pointerenter', hovers)
    element.addEventListener('pointerleave', hovers)
    return () => {
      element.removeEventListener('pointerenter', hovers)
      element.removeEventListener('pointerleave', hovers)
    }
  }, [panel])

  useEffect(() => {
    const element = panel.current
    if (!element || !active) return
    let timer: ReturnType<typeof setTimeout>
    const wait = () => {
      clearTimeout(timer)
      timer = setTimeout(
        () => (isHovered.current || element.contains(document.activeElement) ? wait() : rest()),
        REST_MS,
      )
    }
    wait()
    element.addEventListener('pointerleave', wait)
    element.addEventListener('focusout', wait)
    return () => {
      clearTimeout(timer)
      element.removeEventListener('pointerleave', wait)
      element.removeEventListener('focusout', wait)
    }
  }, [panel, active])
}
