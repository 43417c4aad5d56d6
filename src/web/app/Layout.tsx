import { Outlet } from 'react-router-dom'
import { Toasts } from '../features/notifications/Toasts'
import { Header } from './Header'
import { PageBoundary } from './PageBoundary'
import '../styles/layout.scss'

export function Layout() {
  return (
    <>
      <a className="skip-link" href="#content">
        Skip to content
      </a>
      <Header />
      <main id="content" className="content" tabIndex={-1}>
        <PageBoundary>
          <Outlet />
        </PageBoundary>
      </main>
      <Toasts />
    </>
  )
}
