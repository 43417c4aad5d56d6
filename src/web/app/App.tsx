import { Provider } from 'react-redux'
import { BrowserRouter } from 'react-router-dom'
import { PageBoundary } from './layout/PageBoundary'
import { RouteFollower } from './RouteFollower'
import { AppRoutes } from './routes'
import type { AppStore } from './types'

export function App({ store }: { store: AppStore }) {
  return (
    <Provider store={store}>
      <BrowserRouter>
        <RouteFollower />
        <PageBoundary>
          <AppRoutes />
        </PageBoundary>
      </BrowserRouter>
    </Provider>
  )
}
