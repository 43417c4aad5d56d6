import { useEffect } from 'react'
import { useDispatch, useSelector } from 'react-redux'
import { Link, Navigate } from 'react-router-dom'
import {
  useRegisterMutation,
  useVerifyInviteMutation,
  useVerifyRegistrationMutation,
} from '../../../api/signIn/registration'
import { failureText, isRefusal } from '../../../failure'
import { AccountStep } from './AccountStep'
import { AuthenticatorStep } from './AuthenticatorStep'
import { AuthPage } from '../AuthPage'
import { DoneStep } from './DoneStep'
import { InviteStep } from './InviteStep'
import { registrationReset, selectStep, selectUsername } from './registrationSlice'
import { selectSignedIn } from '../sessionSlice'
import { Steps } from './Steps'
import { FailureAlert } from '../../../ui/FailureAlert'

export function RegisterPage() {
  const signedIn = useSelector(selectSignedIn)
  const step = useSelector(selectStep)
  const username = useSelector(selectUsername)
  const dispatch = useDispatch()
  const [verifyInvite, invite] = useVerifyInviteMutation()
  const [register, account] = useRegisterMutation()
  const [verifyRegistration, verification] = useVerifyRegistrationMutation()
  const inviteToken = invite.data?.inviteToken ?? ''

  const startOver = () => {
    dispatch(registrationReset())
    for (const call of [invite, account, verification]) call.reset()
  }
  useEffect(() => () => void dispatch(registrationReset()), [dispatch])

  // The last step has already signed the user in, but its message stays until they leave the page.
  if (signedIn && step !== 'done') return <Navigate to="/" replace />

  return (
    <AuthPage title="Create Account">
      <Steps current={step} />
      {step === 'invite' && (
        <>
          <FailureAlert
            error={invite.error}
            text={
              isRefusal(invite.error)
                ? 'invalid invite code please try again'
                : failureText(invite.error, 'failed to verify invite code please try again')
            }
          />
          <InviteStep busy={invite.isLoading} onSubmit={(inviteCode) => verifyInvite({ inviteCode })} />
        </>
      )}
      {step === 'account' && (
        <>
          <FailureAlert
            error={account.error}
            text={failureText(account.error, 'registration failed please try again')}
          />
          <AccountStep
            busy={account.isLoading}
            onSubmit={(password) => register({ username, password, inviteToken })}
          />
        </>
      )}
      {step === 'authenticator' && (
        <>
          <FailureAlert
            error={verification.error}
            text={failureText(verification.error, 'verification failed please try again')}
          />
          <AuthenticatorStep
            qrCode={account.data?.qrCode}
            secret={account.data?.secret}
            busy={verification.isLoading}
            onSubmit={(token) => verifyRegistration({ username, token, inviteToken })}
          />
        </>
      )}
      {step === 'done' ? (
        <DoneStep signedIn={signedIn} />
      ) : (
        <div className="auth-links">
          {step === 'invite' ? (
            <span>Already have an account?</span>
          ) : (
            <button type="button" className="text-button" onClick={startOver}>
              Start over
            </button>
          )}
          <Link to="/login">Sign In</Link>
        </div>
      )}
    </AuthPage>
  )
}
