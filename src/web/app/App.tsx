import type { ComponentType, ReactNode } from 'react'
import { Provider } from 'react-redux'
import { BrowserRouter } from 'react-router-dom'
import { basePath } from '../basePath'
import { PageBoundary } from './layout/PageBoundary'
import { RouteFollower } from './routing/RouteFollower'
import { AppRoutes } from './routing/routes'
import type { AppStore } from './store'

type RouterProps = { basename: string; children: ReactNode }

/** @param props.router replaces the browser's router for rendering at build time */
export function App({
  store,
  router: Router = BrowserRouter,
}: {
  store: AppStore
  router?: ComponentType<RouterProps>
}) {
  return (
    <Provider store={store}>
      <Router basename={basePath()}>
        <RouteFollower />
        <PageBoundary>
          <AppRoutes />
        </PageBoundary>
      </Router>
    </Provider>
  )
}
