import { Suspense } from 'react'
import { useSelector } from 'react-redux'
import { Navigate, useLocation } from 'react-router-dom'
import { lazyEarly } from '../../chunks'
import type { SessionEnd } from '../../facts'
import { AuthPage } from './AuthPage'
import { CodeStep } from './CodeStep'
import { CredentialsStep } from './CredentialsStep'
import { selectStep } from './loginSlice'
import { safeOrigin } from '../../../contract/signIn/safeOrigin'
import { selectEnded, selectOrigin, selectSignedIn } from './sessionSlice'

// A chunk of its own: it is needed only if the clock of this device ended the session.
const ClockNotice = lazyEarly(
  async () => (await import(/* webpackChunkName: 'clock-notice' */ './ClockNotice')).ClockNotice,
)

// Other ways to sign in are not needed for the first paint.
const OtherWays = lazyEarly(async () => (await import(/* webpackChunkName: 'other-ways' */ './OtherWays')).OtherWays)

const sessionEndTexts: Partial<Record<SessionEnd, string>> = {
  refused: 'Your session has ended. Please sign in again.',
  expired: 'Your session has ended. Please sign in again.',
  gone: 'You were signed out in another tab.',
}

export function LoginPage() {
  const signedIn = useSelector(selectSignedIn)
  const origin = useSelector(selectOrigin)
  const ended = useSelector(selectEnded)
  const step = useSelector(selectStep)
  // After a reload the origin is in the history state only.
  const { state } = useLocation() as { state: { origin?: unknown } | null }

  if (signedIn) return <Navigate to={origin ?? safeOrigin(state?.origin)} replace />
  const notice = ended && sessionEndTexts[ended]
  return (
    <AuthPage title="Sign In">
      {notice && step === 'credentials' && <p className="alert alert-info">{notice}</p>}
      <Suspense>{ended === 'expired' && step === 'credentials' && <ClockNotice />}</Suspense>
      {step === 'credentials' ? <CredentialsStep /> : <CodeStep />}
      <Suspense>
        <OtherWays />
      </Suspense>
    </AuthPage>
  )
}
