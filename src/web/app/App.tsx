import { Provider } from 'react-redux'
import { BrowserRouter } from 'react-router-dom'
import { basePath } from '../basePath'
import { PageBoundary } from './layout/PageBoundary'
import { RouteFollower } from './routing/RouteFollower'
import { AppRoutes } from './routing/routes'
import type { AppStore } from './types'

export function App({ store }: { store: AppStore }) {
  return (
    <Provider store={store}>
      <BrowserRouter basename={basePath()}>
        <RouteFollower />
        <PageBoundary>
          <AppRoutes />
        </PageBoundary>
      </BrowserRouter>
    </Provider>
  )
}
