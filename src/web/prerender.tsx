import { prerender } from 'react-dom/static'
import { StaticRouter } from 'react-router-dom'
import { App } from './app/App'
import { makeStore } from './app/store'

/**
 * Renders a page as it is without a session. The build writes it into the page's file, so that the browser shows it
 * before the scripts have arrived.
 * @param location the router's location, such as `/login`
 */
export async function renderPage(location: string): Promise<string> {
  const nothing = () => undefined
  // The part of a document that the console uses before and while it renders.
  Object.assign(globalThis, { document: { documentElement: { dataset: {} }, addEventListener: nothing } })
  const store = makeStore({
    connectRealtime: () => {
      throw new Error('Without a session there is no socket.')
    },
    cookies: { get: nothing, set: nothing, remove: nothing },
    storage: { getItem: () => null, setItem: nothing, removeItem: nothing },
    now: Date.now,
  })
  const { prelude } = await prerender(
    <App store={store} router={({ children }) => <StaticRouter location={location}>{children}</StaticRouter>} />,
  )
  return new Response(prelude).text()
}
