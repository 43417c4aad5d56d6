import Cookies from 'js-cookie'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from './app/App'
import { followPage } from './app/page'
import { openStorage } from './app/storage'
import { makeStore } from './app/store'
import { connectRealtime } from './sockets/connectRealtime'
import './styles/main.scss'

const root = document.getElementById('root')
if (!root) throw new Error('index.html has no #root')

// The hash is for servers of files that know no other page than the first.
if (window.location.pathname === '/replay' || window.location.hash === '#replay') {
  import(/* webpackChunkName: 'replay' */ './actionLog/startReplay').then(
    ({ startReplay }) => startReplay(root),
    () => (root.textContent = 'The replay could not be loaded. Reload the page.'),
  )
} else {
  const store = makeStore({ connectRealtime, cookies: Cookies, storage: openStorage(), now: Date.now })
  followPage(store)
  createRoot(root).render(
    <StrictMode>
      <App store={store} />
    </StrictMode>,
  )
}
