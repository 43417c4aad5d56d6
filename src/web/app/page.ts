import { setupListeners } from '@reduxjs/toolkit/query'
import { pageLeft, pageLoaded, pageShown } from '../facts'
import { selectTheme } from './themeSlice'
import type { AppStore } from './types'

/** Tells the store what happens to the page, and the page which theme was chosen. Answers how to stop. */
export function followPage(store: AppStore): () => void {
  const { dispatch } = store
  const stop = new AbortController()
  const { signal } = stop

  const loaded = () => dispatch(pageLoaded())
  if (document.readyState === 'complete') loaded()
  else window.addEventListener('load', loaded, { signal })
  window.addEventListener('pagehide', () => dispatch(pageLeft()), { signal })
  // A page that comes back out of the browser's back-forward cache does not load again.
  window.addEventListener('pageshow', ({ persisted }) => persisted && loaded(), { signal })
  document.addEventListener(
    'visibilitychange',
    () => document.visibilityState === 'visible' && dispatch(pageShown()),
    { signal },
  )
  // Polls pause while the page is hidden, not while another window merely has the focus.
  const stopListening = setupListeners(dispatch)

  const systemDark = window.matchMedia('(prefers-color-scheme: dark)')
  const paint = () => {
    const theme = selectTheme(store.getState())
    const dark = theme === 'dark' || (theme === 'auto' && systemDark.matches)
    document.documentElement.dataset.bsTheme = dark ? 'dark' : 'light'
  }
  paint()
  systemDark.addEventListener('change', paint, { signal })
  const stopPainting = store.subscribe(paint)

  return () => {
    stop.abort()
    stopListening()
    stopPainting()
    dispatch(pageLeft())
  }
}
