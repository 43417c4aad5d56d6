import { Provider, useSelector } from 'react-redux'
import type { Navigator } from 'react-router-dom'
import { Router } from 'react-router-dom'
import { PageBoundary } from '../app/layout/PageBoundary'
import { AppRoutes } from '../app/routing/routes'
import { selectRoute } from '../app/routing/routeSlice'
import type { AppStore } from '../app/types'

/** The route comes from the recorded state, so the navigator of the replay does nothing. */
const nowhere: Navigator = {
  createHref: (to) => (typeof to === 'string' ? to : `${to.pathname ?? ''}${to.search ?? ''}`),
  go() {},
  push() {},
  replace() {},
}

/** Renders the pages of the console with a recorded state. */
export function ReplayStage({ store }: { store: AppStore }) {
  return (
    <Provider store={store}>
      <Pages />
    </Provider>
  )
}

function Pages() {
  const route = useSelector(selectRoute)
  // The route is empty until the first page was shown.
  if (route === '') return null
  const [pathname = '/', search] = route.split('?')
  return (
    <Router
      location={{ pathname, search: search ? `?${search}` : '', hash: '', state: null, key: pathname }}
      navigator={nowhere}
    >
      <PageBoundary>
        <AppRoutes />
      </PageBoundary>
    </Router>
  )
}
