import { useEffect, useEffectEvent } from 'react'
import { guardHistory } from './historyGate'

/** Where the user wanted to go: an address, so many entries of the history back (or on), or out of the session. */
export type Leaving = { to: string } | { by: number } | { signingOut: true }

let isUnloadAllowed = false
/** The page is about to be loaded anew, and nothing of it is lost: nobody needs to be asked. */
export const allowUnload = () => {
  isUnloadAllowed = true
}

/**
 * While `active`, whoever is about to leave this page is asked first: `onLeave` is told where they wanted to go.
 *
 * The router is the declarative one and has no blocker. All ways out of a page are events of the browser, so they are
 * caught there before the router hears of them: no link of the console needs to know about the guard.
 */
export function useLeaveGuard(active: boolean, onLeave: (leaving: Leaving) => void) {
  const ask = useEffectEvent(onLeave)
  useEffect(() => {
    if (!active) return
    const { pathname } = window.location
    const place = placeOf(window.history.state)
    let returning = false

    const onClick = (event: MouseEvent) => {
      if (event.target instanceof Element && event.target.closest('[data-leaves="session"]')) {
        event.stopPropagation()
        ask({ signingOut: true })
        return
      }
      const link = event.target instanceof Element ? event.target.closest('a') : null
      const elsewhere =
        event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey || link?.target
      if (!link || elsewhere || link.origin !== window.location.origin || link.pathname === pathname) return
      event.preventDefault()
      event.stopPropagation()
      ask({ to: link.pathname + link.search })
    }

    // The browser has moved already: move back before the router notices, and ask.
    const onPopState = (event: PopStateEvent) => {
      if (returning || window.location.pathname !== pathname) event.stopImmediatePropagation()
      if (returning) {
        returning = false
      } else if (window.location.pathname !== pathname) {
        const by = placeOf(event.state) - place
        returning = true
        window.history.go(-by)
        ask({ by })
      }
    }

    const onBeforeUnload = (event: BeforeUnloadEvent) => {
      if (!isUnloadAllowed) event.preventDefault()
    }

    document.addEventListener('click', onClick, true)
    const openGate = guardHistory(onPopState)
    window.addEventListener('beforeunload', onBeforeUnload)
    return () => {
      document.removeEventListener('click', onClick, true)
      openGate()
      window.removeEventListener('beforeunload', onBeforeUnload)
    }
  }, [active])
}

/** The router numbers its entries of the history. Any other entry came with a jump inside the page (#content). */
const placeOf = (state: unknown) => Number((state as { idx?: number } | null)?.idx ?? 0)
