import { Provider, useSelector } from 'react-redux'
import type { Navigator } from 'react-router-dom'
import { Router } from 'react-router-dom'
import { PageBoundary } from '../app/layout/PageBoundary'
import { AppRoutes } from '../app/routing/routes'
import { selectRoute } from '../app/routing/routeSlice'
import type { AppStore } from '../app/store'

/** The route comes from the recorded state, so the navigator of the replay does nothing. */
const nowhere: Navigator = {
  createHref: (to) => (typeof to === 'string' ? to : `${to.pathname ?? ''}${to.search ?? ''}`),
  go() {},
  push() {},
  replace() {},
}

/**
 * Renders the pages of the console with a recorded state.
 *
 * @param props.rewinds how often an earlier state was shown after a later one. Resets pages that crashed: a crashed
 * page stays crashed until the next navigation, as in the console, but must show earlier states.
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
  // The route is empty until the first page was shown.
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
