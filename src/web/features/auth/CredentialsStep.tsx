import type { FormEvent } from 'react'
import { useEffect, useRef, useState } from 'react'
import { useDispatch, useSelector } from 'react-redux'
import { Link } from 'react-router-dom'
import { useLoginMutation } from '../../api/signIn/auth'
import { basePath } from '../../basePath'
import { failureText } from '../../failure'
import { Field } from '../../ui/form/Field'
import { SubmitButton } from '../../ui/form/SubmitButton'
import { forgotPasswordOpened, selectUsername, usernameTyped } from './loginSlice'
import { FailureAlert } from '../../ui/FailureAlert'

export function CredentialsStep() {
  const username = useSelector(selectUsername)
  const [password, setPassword] = useState('')
  const [login, { isLoading, error }] = useLoginMutation()
  const dispatch = useDispatch()

  const form = useRef<HTMLFormElement>(null)
  // Sends a form that was submitted before the console had started (public/early.js). By now, its field has reported
  // the password.
  useEffect(() => {
    if (!password || form.current?.dataset.early === undefined) return
    delete form.current.dataset.early
    form.current.requestSubmit()
  }, [password])

  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (!isLoading) void login({ username, password })
  }

  return (
    <>
      <p className="auth-lead">Welcome back. Sign in to take the helm.</p>
      <form ref={form} className="auth-form" onSubmit={submit}>
        <FailureAlert error={error} text={failureText(error, 'login failed please check your credentials')} />
        <Field
          label="Username"
          autoComplete="username"
          autoCapitalize="none"
          spellCheck={false}
          required
          focused
          value={username}
          onChange={(text) => dispatch(usernameTyped(text))}
        />
        <Field
          label="Password"
          type="password"
          autoComplete="current-password"
          required
          value={password}
          onChange={setPassword}
        />
        <SubmitButton busy={isLoading}>Sign In</SubmitButton>
      </form>
      <div className="auth-links">
        <button type="button" className="text-button" onClick={() => dispatch(forgotPasswordOpened())}>
          Forgot your password?
        </button>
        <Link to="/register">Create Account</Link>
        {/* A full page load: the replay page never reads the session. */}
        <a href={`${basePath()}/replay`}>Replay action log</a>
      </div>
    </>
  )
}
