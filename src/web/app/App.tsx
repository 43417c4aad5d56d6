import { Provider } from 'react-redux'
import { BrowserRouter } from 'react-router-dom'
import { RealtimeProvider } from '../sockets/RealtimeProvider'
import { PageBoundary } from './layout/PageBoundary'
import { RouteFollower } from './RouteFollower'
import { AppRoutes } from './routes'
import type { AppStore } from './types'

export function App({ store }: { store: AppStore }) {
  return (
    <Provider store={store}>
      <RealtimeProvider>
        <BrowserRouter>
          <RouteFollower />
          <PageBoundary>
            <AppRoutes />
          </PageBoundary>
        </BrowserRouter>
      </RealtimeProvider>
    </Provider>
  )
}
