import { useEffect, useEffectEvent } from 'react'
import { routeOfPath } from '../../basePath'
import { guardHistory } from './historyGate'

/** Where the user wanted to go: an address, a number of history entries (negative for Back), or out of the session. */
export type Leaving = { to: string } | { by: number } | { signingOut: true }

let isUnloadAllowed = false
/** Suppresses the confirmation of the next reload, which loses nothing. */
export const allowUnload = () => {
  isUnloadAllowed = true
  // Runs if the user stays, because running uploads ask for a confirmation of their own.
  const forbid = () => void (isUnloadAllowed = false)
  window.addEventListener('beforeunload', () => setTimeout(forbid), { once: true })
}

/**
 * While `active`, stops navigation away from this page and calls `onLeave` with its destination. The declarative router
 * has no blocker. All ways out of a page are browser events, so the guard catches them before the router does, and
 * links need not know about it.
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
      ask({ to: routeOfPath(link.pathname) + link.search })
    }

    // The browser has already navigated: go back before the router notices, then ask.
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

/** The router numbers its history entries. Others, such as that of a fragment typed by the user, count as 0. */
const placeOf = (state: unknown) => Number((state as { idx?: number } | null)?.idx ?? 0)
