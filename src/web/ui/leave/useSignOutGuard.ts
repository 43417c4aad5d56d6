import { useEffect, useEffectEvent } from 'react'

/**
 * While `active`, stops a click on Logout and calls `onAsked`. If the page also guards unsaved work (`useLeaveGuard`),
 * only that guard asks.
 */
export function useSignOutGuard(active: boolean, onAsked: () => void) {
  const ask = useEffectEvent(onAsked)
  useEffect(() => {
    if (!active) return
    const onClick = (event: MouseEvent) => {
      if (!(event.target instanceof Element) || !event.target.closest('[data-leaves="session"]')) return
      event.stopPropagation()
      ask()
    }
    // Capturing on the body runs before React's handlers and after the guards on the document.
    document.body.addEventListener('click', onClick, true)
    return () => document.body.removeEventListener('click', onClick, true)
  }, [active])
}
