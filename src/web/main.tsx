import './publicPath'
import Cookies from 'js-cookie'
import { StrictMode } from 'react'
import { createRoot, hydrateRoot } from 'react-dom/client'
import { App } from './app/App'
import { connectPage } from './app/page'
import { openStorage } from './app/storage'
import { makeStore } from './app/store'
import { basePath } from './basePath'
import { connectRealtime } from './sockets/connectRealtime'
import { loadFont } from './styles/loadFont'
import './styles/main.scss'

// Loads after the first paint, which the font must not delay.
void loadFont()

const root = document.getElementById('root')
if (!root) throw new Error('index.html has no #root')

// The hash is for static file servers, which serve only the index page.
if (window.location.pathname === `${basePath()}/replay` || window.location.hash === '#replay') {
  import(/* webpackChunkName: 'replay' */ './actionLog/startReplay').then(
    ({ startReplay }) => startReplay(root),
    () => (root.textContent = 'The replay could not be loaded. Reload the page.'),
  )
} else {
  const store = makeStore({ connectRealtime, cookies: Cookies, storage: openStorage(), now: Date.now })
  connectPage(store)
  const app = (
    <StrictMode>
      <App store={store} />
    </StrictMode>
  )
  // The file of the login page contains its markup (prerender.tsx).
  if (root.firstChild) hydrateRoot(root, app)
  else createRoot(root).render(app)
}
