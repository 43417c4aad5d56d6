import { useDispatch, useSelector } from 'react-redux'
import { useVerifyLoginMutation } from '../../api/signIn/auth'
import { failureText, isRefusal } from '../../failure'
import { CodeForm } from './CodeForm'
import { loginRestarted, selectUsername } from './loginSlice'
import { FailureAlert } from '../../ui/FailureAlert'

export function CodeStep() {
  const username = useSelector(selectUsername)
  const [verify, { isLoading, error }] = useVerifyLoginMutation()
  const dispatch = useDispatch()
  const text = isRefusal(error)
    ? 'invalid verification code'
    : failureText(error, 'verification failed please try again')

  return (
    <>
      <p className="auth-lead">
        Enter the six-digit code from your authenticator app for <strong>{username}</strong>.
      </p>
      <CodeForm
        busy={isLoading}
        onSubmit={(code) => verify({ code })}
        before={<FailureAlert error={error} text={text} />}
        after={
          <button type="button" className="btn btn-link" onClick={() => dispatch(loginRestarted())}>
            Back to Login
          </button>
        }
      />
    </>
  )
}
