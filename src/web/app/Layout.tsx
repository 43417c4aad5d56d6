import { Outlet } from 'react-router-dom'
import { Toasts } from '../features/notifications/Toasts'
import { Header } from './Header'
import { PageBoundary } from './PageBoundary'
import { SignInWarning } from './SignInWarning'
import { TransferDock } from './TransferDock'
import { useRecorder } from './useRecorder'
import '../styles/layout.scss'

export function Layout() {
  useRecorder()
  return (
    <>
      <a className="skip-link" href="#content">
        Skip to content
      </a>
      <Header />
      <main id="content" className="content" tabIndex={-1}>
        <SignInWarning />
        <PageBoundary>
          <Outlet />
        </PageBoundary>
      </main>
      <TransferDock />
      <Toasts />
    </>
  )
}
