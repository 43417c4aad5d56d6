import type { RefObject } from 'react'
import { useEffect, useEffectEvent, useRef } from 'react'

const IDLE_MS = 5000

/** Calls `onIdle` once a panel was `active` for IDLE_MS with neither the pointer nor the focus on it. */
export function useIdle(panel: RefObject<HTMLElement | null>, active: boolean, onIdle: () => void) {
  const isHovered = useRef(false)
  const becomeIdle = useEffectEvent(onIdle)

  // Native listeners, because React events also bubble from the dialogs that the panel opens in portals.
  useEffect(() => {
    const element = panel.current
    if (!element) return
    const onHover = ({ type }: PointerEvent) => {
      isHovered.current = type === 'pointerenter'
    }
    element.addEventListener('pointerenter', onHover)
    element.addEventListener('pointerleave', onHover)
    return () => {
      element.removeEventListener('pointerenter', onHover)
      element.removeEventListener('pointerleave', onHover)
    }
  }, [panel])

  useEffect(() => {
    const element = panel.current
    if (!element || !active) return
    let timer: ReturnType<typeof setTimeout>
    const restart = () => {
      clearTimeout(timer)
      timer = setTimeout(
        () => (isHovered.current || element.contains(document.activeElement) ? restart() : becomeIdle()),
        IDLE_MS,
      )
    }
    restart()
    element.addEventListener('pointerleave', restart)
    element.addEventListener('focusout', restart)
    return () => {
      clearTimeout(timer)
      element.removeEventListener('pointerleave', restart)
      element.removeEventListener('focusout', restart)
    }
  }, [panel, active])
}
