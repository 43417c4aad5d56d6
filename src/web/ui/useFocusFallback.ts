import type { RefObject } from 'react'
import { useEffect, useEffectEvent, useRef } from 'react'

/**
 * Moves the focus when the focused element in the panel is removed, for example the button of a deleted row: to the
 * element that `fallback` finds in the panel, else to the panel.
 */
export function useFocusFallback(
  panel: RefObject<HTMLElement | null>,
  dialogOpen: boolean,
  fallback: (panel: HTMLElement) => HTMLElement | null = panelItself,
) {
  const last = useRef<EventTarget>(null)

  const restoreFocus = useEffectEvent(() => {
    if (
      !panel.current ||
      !(last.current instanceof Element) ||
      last.current.isConnected ||
      document.activeElement !== document.body
    )
      return
    const found = fallback(panel.current) ?? panel.current
    found.focus()
  })

  useEffect(() => {
    const element = panel.current
    if (!element) return
    const remember = ({ target }: FocusEvent) => {
      if (target !== element) last.current = target
    }
    const observer = new MutationObserver(() => restoreFocus())
    element.addEventListener('focusin', remember)
    observer.observe(element, { childList: true, subtree: true })
    // Handles a removal in this render, because the previous observer was disconnected before its callback ran.
    restoreFocus()
    return () => {
      element.removeEventListener('focusin', remember)
      observer.disconnect()
    }
  })

  useEffect(() => {
    // A closing dialog returns the focus to an element that may be gone.
    if (!dialogOpen) restoreFocus()
  }, [dialogOpen])
}

const panelItself = (panel: HTMLElement) => panel
