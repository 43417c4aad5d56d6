import { useSelector } from 'react-redux'
import { Outlet } from 'react-router-dom'
import { selectSignedIn } from '../features/auth/sessionSlice'
import { Toasts } from '../features/notifications/Toasts'
import { ConnectionLine } from './ConnectionLine'
import { Header } from './Header'
import { PageBoundary } from './PageBoundary'
import { SignInWarning } from './SignInWarning'
import { TransferDock } from './TransferDock'
import { useRecorder } from './useRecorder'
import '../styles/layout.scss'

export function Layout() {
  useRecorder()
  const signedIn = useSelector(selectSignedIn)
  return (
    <>
      <a className="skip-link" href="#content">
        Skip to content
      </a>
      <Header />
      {signedIn && <ConnectionLine />}
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
