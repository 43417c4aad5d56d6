import { Suspense } from 'react'
import { useSelector } from 'react-redux'
import { useLocation } from 'react-router-dom'
import type { OpenIdFailure } from '../../../contract/signIn/openId'
import { useGetSignInMethodsQuery } from '../../api/signIn/signInMethods'
import { basePath } from '../../basePath'
import { useAppDispatch } from '../../app/hooks'
import type { RootState } from '../../app/types'
import { lazyEarly, lazyOnDemand, loadChunk } from '../../chunks'
import { failureText } from '../../failure'
import { FailureAlert } from '../../ui/FailureAlert'
import { selectForgotOpen, selectStep } from './loginSlice'
import styles from './otherWays.module.scss'
import { safeOrigin } from '../../../contract/signIn/safeOrigin'
import { selectOrigin } from './sessionSlice'

// A chunk of its own: it is rarely needed, and its modal is large.
const ForgotPassword = lazyEarly(
  async () => (await import(/* webpackChunkName: 'forgot-password' */ './ForgotPassword')).ForgotPassword,
)

// Loaded when a passkey or a recovery code is used.
const loadMoreWays = () => import(/* webpackChunkName: 'more-ways' */ './moreWays')
const RecoveryCodeForm = lazyOnDemand(async () => (await loadMoreWays()).RecoveryCodeForm)

/** Other ways to sign in, below the login form. Loaded after the first paint. */
export function OtherWays() {
  const forgotOpen = useSelector(selectForgotOpen)
  const step = useSelector(selectStep)
  const methods = useGetSignInMethodsQuery().data
  const openId = methods?.openId
  return (
    <>
      <Suspense>{forgotOpen && <ForgotPassword />}</Suspense>
      {methods && <MoreWays isAlone={step === 'credentials'} passkeys={methods.passkeys} />}
      {step === 'credentials' && <OpenIdSignIn name={openId?.name} isAvailable={openId?.available === true} />}
    </>
  )
}

// The slice is loaded with the other chunk.
const selectOtherWays = ({ otherWays }: RootState) => otherWays

/** @param props.isAlone whether no password was entered yet */
function MoreWays({ isAlone, passkeys }: { isAlone: boolean; passkeys: boolean }) {
  const dispatch = useAppDispatch()
  const { recovers, passkeyRequest = null, error } = useSelector(selectOtherWays) ?? {}
  const isWaiting = passkeyRequest !== null

  if (isAlone && !passkeys) return null
  return (
    <div className={styles.ways}>
      <FailureAlert error={error} text={failureText(error, 'The sign-in failed. Please try again.')} />
      {passkeys && (
        <button
          type="button"
          className="btn btn-outline-secondary"
          aria-disabled={isWaiting}
          onClick={async () => dispatch((await loadChunk(loadMoreWays)).signInWithPasskey(isAlone ? 'alone' : 'step'))}
        >
          {isWaiting ? 'Waiting for the browser...' : isAlone ? 'Sign in with a passkey' : 'Use a passkey instead'}
        </button>
      )}
      {!isAlone && !recovers && (
        <button
          type="button"
          className="btn btn-outline-secondary"
          onClick={async () => dispatch((await loadChunk(loadMoreWays)).recoveryChosen())}
        >
          Use a recovery code
        </button>
      )}
      <Suspense>{!isAlone && recovers && <RecoveryCodeForm />}</Suspense>
    </div>
  )
}

/** @param props.name the provider's name; undefined if none is configured */
function OpenIdSignIn({ name, isAvailable }: { name: string | undefined; isAvailable: boolean }) {
  const origin = useSelector(selectOrigin)
  // After a reload the origin is in the history state only.
  const { search, state } = useLocation() as { search: string; state: { origin?: unknown } | null }
  const reason = new URLSearchParams(search).get('sso')
  const to = encodeURIComponent(origin ?? safeOrigin(state?.origin))
  return (
    <>
      {reason !== null && (
        <p className="alert alert-danger" role="alert">
          {failureSentences[isFailure(reason) ? reason : 'failed']}
        </p>
      )}
      {name !== undefined && (
        <div className={styles.ways}>
          {isAvailable ? (
            // A full navigation, because the platform redirects to the provider's page.
            <a className="btn btn-outline-secondary" href={`${basePath()}/api/auth/oidc/start?to=${to}`}>
              Sign in with {name}
            </a>
          ) : (
            <p>{name} does not answer at the moment. Sign in with your password, or try again later.</p>
          )}
        </div>
      )}
    </>
  )
}

const failureSentences: Record<OpenIdFailure, string> = {
  expired: 'This sign-in took too long, or was begun in another browser. Please start again.',
  cancelled: 'The sign-in was cancelled.',
  unavailable: 'The provider of single sign-on does not answer. Try again in a moment, or sign in with your password.',
  refused: 'The provider of single sign-on refused the sign-in, or its response was not valid. Ask your administrator.',
  'no-role': 'Your account at the provider has no role in this console. Ask your administrator for one.',
  'name-taken':
    'Your username belongs to an account of this console that is not connected to the provider. Ask your administrator.',
  'identity-taken': 'Your account at the provider is connected to another account of this console.',
  'has-identity': 'Your account is connected to the provider already.',
  'session-ended': 'Your session has ended. Please sign in again.',
  'too-many': 'Too many sign-ins from your network. Wait a minute and try again.',
  'not-configured': 'Single sign-on is not configured on this server.',
  failed: 'The sign-in failed. Please try again.',
}

/** An address may contain any text, such as the name of a property that each object has. */
const isFailure = (reason: string): reason is OpenIdFailure => Object.hasOwn(failureSentences, reason)
