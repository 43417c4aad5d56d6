// Before the styles of components, which refine these.
import '../../styles/layout.scss'
import { useEffect, useRef, type MouseEvent } from 'react'
import { useSelector } from 'react-redux'
import { useOutlet } from 'react-router-dom'
import { useGetAccountQuery } from '../../api/account'
import { firstViewShown, loadEarly } from '../../chunks'
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
import { useAppStore } from '../hooks'
import { useRecorder } from '../useRecorder'
import '../watchSignOut'
import { useFocusOfNewPage } from './useFocusOfNewPage'
import { whenIdle, whenShown } from './whenShown'

export function Layout() {
  useRecorder()
  // No route inside matches an unknown address.
  const page = useOutlet()
  const signedIn = useSelector(selectSignedIn)
  useGetAccountQuery(undefined, { skip: !signedIn })
  const store = useAppStore()
  const main = useRef<HTMLElement>(null)
  useFocusOfNewPage(main)
  const skipToContent = (event: MouseEvent) => {
    // The jump of the browser would add a history entry that the router does not number (ui/leave).
    event.preventDefault()
    main.current?.focus()
  }
  useEffect(() => {
    if (!signedIn) return
    let cancel = whenShown(store, () => {
      firstViewShown()
      // Preloads chunks, so that pages, dialogs and the export of the action log work while the platform is down.
      cancel = whenIdle(() => void loadEarly().catch(() => {}), IDLE_AFTER_MS)
    })
    return () => cancel()
  }, [signedIn, store])
  return (
    <RealtimeProvider>
      <a className="skip-link" href="#content" onClick={skipToContent}>
        Skip to content
      </a>
      <Header />
      {signedIn && <ConnectionLine />}
      <main ref={main} id="content" className="content" tabIndex={-1}>
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

/** The delay in browsers without requestIdleCallback. */
const IDLE_AFTER_MS = 5000
