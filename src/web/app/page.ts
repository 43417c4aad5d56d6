import { setupListeners } from '@reduxjs/toolkit/query'
import { exportActionLog } from '../actionLog/export/exportActionLog'
import { pageLeft, pageLoaded, pageShown } from '../facts'
import { selectTheme } from './themeSlice'
import type { AppStore } from './store'

/** Dispatches events of the document and applies the theme. Returns a function that stops it. */
export function connectPage(store: AppStore): () => void {
  const { dispatch } = store
  const stops: (() => void)[] = []
  const listen = (target: EventTarget, event: string, react: (event: Event) => unknown) => {
    target.addEventListener(event, react)
    stops.push(() => target.removeEventListener(event, react))
  }

  const loaded = () => dispatch(pageLoaded())
  if (document.readyState === 'complete') loaded()
  else listen(window, 'load', loaded)
  listen(window, 'pagehide', () => dispatch(pageLeft()))
  // A page restored from the back-forward cache fires no `load`.
  listen(window, 'pageshow', (event) => (event as PageTransitionEvent).persisted && loaded())
  listen(document, 'visibilitychange', () => document.visibilityState === 'visible' && dispatch(pageShown()))
  listen(document, 'keydown', (event) => {
    const { ctrlKey, shiftKey, code } = event as KeyboardEvent
    if (!ctrlKey || !shiftKey || code !== 'KeyL') return
    event.preventDefault()
    void exportActionLog(store)
  })
  // Polling pauses while the page is hidden, but not when another window has the focus.
  stops.push(setupListeners(dispatch))

  stops.push(applyTheme(store))

  return () => {
    for (const stop of stops) stop()
    dispatch(pageLeft())
  }
}

/** Applies the chosen theme to the document. Returns a function that stops it. */
export function applyTheme(store: Pick<AppStore, 'getState' | 'subscribe'>): () => void {
  const systemDark = window.matchMedia('(prefers-color-scheme: dark)')
  const paint = () => {
    const theme = selectTheme(store.getState())
    const dark = theme === 'dark' || (theme === 'auto' && systemDark.matches)
    document.documentElement.dataset.bsTheme = dark ? 'dark' : 'light'
  }
  paint()
  systemDark.addEventListener('change', paint)
  const unsubscribe = store.subscribe(paint)
  return () => {
    systemDark.removeEventListener('change', paint)
    unsubscribe()
  }
}
