import { setupListeners } from '@reduxjs/toolkit/query'
import { exportActionLog } from '../actionLog/exportActionLog'
import { pageLeft, pageLoaded, pageShown } from '../facts'
import { selectTheme } from './themeSlice'
import type { AppStore } from './types'

/** Tells the store what happens to the page, and the page which theme was chosen. Answers how to stop. */
export function followPage(store: AppStore): () => void {
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
  // A page that comes back out of the browser's back-forward cache does not load again.
  listen(window, 'pageshow', (event) => (event as PageTransitionEvent).persisted && loaded())
  listen(document, 'visibilitychange', () => document.visibilityState === 'visible' && dispatch(pageShown()))
  listen(document, 'keydown', (event) => {
    const { ctrlKey, shiftKey, code } = event as KeyboardEvent
    if (!ctrlKey || !shiftKey || code !== 'KeyL') return
    event.preventDefault()
    void exportActionLog(store)
  })
  // Polls pause while the page is hidden, not while another window merely has the focus.
  stops.push(setupListeners(dispatch))

  stops.push(followTheme(store))

  return () => {
    for (const stop of stops) stop()
    dispatch(pageLeft())
  }
}

/** Paints the page in the theme that was chosen. Answers how to stop. */
export function followTheme(store: Pick<AppStore, 'getState' | 'subscribe'>): () => void {
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
