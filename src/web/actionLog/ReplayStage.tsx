import { Provider, useSelector } from 'react-redux'
import type { Navigator } from 'react-router-dom'
import { Router } from 'react-router-dom'
import { PageBoundary } from '../app/layout/PageBoundary'
import { AppRoutes } from '../app/routing/routes'
import { selectRoute } from '../app/routing/routeSlice'
import type { AppStore } from '../app/store'

/** A navigator that does nothing, because the route comes from the recorded state. */
const nowhere: Navigator = {
  createHref: (to) => (typeof to === 'string' ? to : `${to.pathname ?? ''}${to.search ?? ''}`),
  go() {},
  push() {},
  replace() {},
}

/**
 * Renders the pages of the console with a recorded state.
 *
 * @param props.rewinds how often an earlier state was shown after a later state. A change resets crashed pages: as in
 * the console, a crashed page stays crashed until the next navigation, but the states before the crash must be shown.
 */
export function ReplayStage({ store, rewinds }: { store: AppStore; rewinds: number }) {
  return (
    <Provider store={store}>
      <Pages rewinds={rewinds} />
    </Provider>
  )
}

function Pages({ rewinds }: { rewinds: number }) {
  const route = useSelector(selectRoute)
  // The route is empty before the first page is shown.
  if (route === '') return null
  const [pathname = '/', search] = route.split('?')
  return (
    <Router
      location={{ pathname, search: search ? `?${search}` : '', hash: '', state: null, key: `${rewinds} ${route}` }}
      navigator={nowhere}
    >
      <PageBoundary>
        <AppRoutes />
      </PageBoundary>
    </Router>
  )
}
