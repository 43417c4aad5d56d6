import { useEffect, useEffectEvent } from 'react'

/**
 * While `active`, whoever presses Logout is asked first. Where a page guards unsaved work, too (`useLeaveGuard`), its
 * question comes first, and this one is not asked.
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
    // Before React hears of it, and after the guards on the document.
    document.body.addEventListener('click', onClick, true)
    return () => document.body.removeEventListener('click', onClick, true)
  }, [active])
}
