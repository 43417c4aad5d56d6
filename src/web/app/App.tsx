import { Provider } from 'react-redux'
import { BrowserRouter } from 'react-router-dom'
import { basePath } from '../basePath'
import { PageBoundary } from './layout/PageBoundary'
import { RouteFollower } from './RouteFollower'
import { AppRoutes } from './routes'
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
