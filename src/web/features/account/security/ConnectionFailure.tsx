import { useSearchParams } from 'react-router-dom'
import type { OpenIdFailure } from '../../../../contract/signIn/openId'

/** Why the provider did not connect the account, after it redirected back to this page. */
export function ConnectionFailure() {
  const [parameters] = useSearchParams()
  const reason = parameters.get('sso')
  if (reason === null) return null
  return (
    <p className="alert alert-danger" role="alert">
      {(Object.hasOwn(sentences, reason) && sentences[reason as OpenIdFailure]) ||
        'Your account could not be connected. Please try again.'}
    </p>
  )
}

const sentences: Partial<Record<OpenIdFailure, string>> = {
  expired: 'Connecting took too long, or was started in another browser. Please start again.',
  cancelled: 'Connecting was cancelled. Nothing has changed.',
  unavailable: 'The provider of single sign-on does not answer. Try again in a moment.',
  refused:
    'The provider of single sign-on refused the connection, or its response was not valid. Ask your administrator.',
  'identity-taken': 'That account of the provider is connected to another account of this console.',
  'has-identity': 'Your account is connected to the provider already.',
  'session-ended': 'The session in which you started has ended. Please start again.',
  'too-many': 'Too many attempts from your network. Wait a minute and try again.',
  'not-configured': 'Single sign-on is not configured on this server.',
}
