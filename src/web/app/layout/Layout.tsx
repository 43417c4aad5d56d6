import { useEffect } from 'react'
import { useSelector } from 'react-redux'
import { useOutlet } from 'react-router-dom'
import { useGetAccountQuery } from '../../api/account'
import { loadEarly } from '../../chunks'
import { selectSignedIn } from '../../features/auth/sessionSlice'
import { Toasts } from '../../features/notifications/Toasts'
import { RealtimeProvider } from '../../sockets/RealtimeProvider'
import { ConnectionLine } from './ConnectionLine'
import { Header } from './Header'
import { NewVersion } from './NewVersion'
import { NotFoundPage } from './NotFoundPage'
import { Palette } from '../palette/Palette'
import { PageBoundary } from './PageBoundary'
import { SignInWarning } from './SignInWarning'
import { TransferDock } from './TransferDock'
import '../refetching'
import { useRecorder } from '../useRecorder'
import '../watchSignOut'
import '../../styles/layout.scss'

export function Layout() {
  useRecorder()
  // No route inside matches an unknown address.
  const page = useOutlet()
  const signedIn = useSelector(selectSignedIn)
  useGetAccountQuery(undefined, { skip: !signedIn })
  useEffect(() => {
    // Preloads chunks, so that pages, dialogs and the export of the action log work while the platform is down.
    if (signedIn) return whenIdle(() => void loadEarly().catch(() => {}))
  }, [signedIn])
  return (
    <RealtimeProvider>
      <a className="skip-link" href="#content">
        Skip to content
      </a>
      <Header />
      {signedIn && <ConnectionLine />}
      <main id="content" className="content" tabIndex={-1}>
        <SignInWarning />
        <PageBoundary>{page ?? <NotFoundPage />}</PageBoundary>
      </main>
      <TransferDock />
      <Toasts />
      <NewVersion />
      {signedIn && <Palette />}
    </RealtimeProvider>
  )
}

/** For browsers without requestIdleCallback. */
const IDLE_AFTER_MS = 5000

/** Returns a function that cancels it. */
function whenIdle(act: () => void): () => void {
  if (typeof requestIdleCallback === 'undefined') {
    const timer = setTimeout(act, IDLE_AFTER_MS)
    return () => clearTimeout(timer)
  }
  const request = requestIdleCallback(act)
  return () => cancelIdleCallback(request)
}
