import type { RefObject } from 'react'
import { useEffect, useEffectEvent, useRef } from 'react'

/**
 * Gives the focus to the next sensible thing when what had it inside the panel goes away, such as the button of a row that
 * it deletes: to what `place` finds in the panel, or else to the panel.
 */
export function useKeptFocus(
  panel: RefObject<HTMLElement | null>,
  dialogOpen: boolean,
  place: (panel: HTMLElement) => HTMLElement | null = itself,
) {
  const last = useRef<EventTarget>(null)

  const keep = useEffectEvent(() => {
    if (
      !panel.current ||
      !(last.current instanceof Element) ||
      last.current.isConnected ||
      document.activeElement !== document.body
    )
      return
    const found = place(panel.current) ?? panel.current
    found.focus()
  })

  useEffect(() => {
    const element = panel.current
    if (!element) return
    const remember = ({ target }: FocusEvent) => {
      if (target !== element) last.current = target
    }
    const observer = new MutationObserver(() => keep())
    element.addEventListener('focusin', remember)
    observer.observe(element, { childList: true, subtree: true })
    // What this very render took away: the observer before this one was let go before it was told.
    keep()
    return () => {
      element.removeEventListener('focusin', remember)
      observer.disconnect()
    }
  })

  useEffect(() => {
    // Where the dialog wanted to give the focus back to may be gone by then.
    if (!dialogOpen) keep()
  }, [dialogOpen])
}

const itself = (panel: HTMLElement) => panel
