import { useEffect, useRef } from 'react'
import { useSelector } from 'react-redux'
import { Link } from 'react-router-dom'
import { Icon } from '../../../ui/Icon'
import { selectOrigin } from '../sessionSlice'

/** @param props.signedIn whether the server sent a session with its response, as ours does */
export function DoneStep({ signedIn }: { signedIn: boolean }) {
  const message = useRef<HTMLDivElement>(null)
  const origin = useSelector(selectOrigin)
  // The submit button of the previous step, which had the focus, is gone.
  useEffect(() => message.current?.focus(), [])
  return (
    <div className="auth-done" role="status" ref={message} tabIndex={-1}>
      <span className="auth-done-mark">
        <Icon name="check" size={28} />
      </span>
      <p>Your account has been created successfully. You can now login with your credentials.</p>
      {signedIn ? (
        <>
          <p className="form-text">In this browser you are signed in already.</p>
          <Link to={origin ?? '/'} className="btn btn-primary submit">
            Open Quarterdeck
          </Link>
        </>
      ) : (
        <Link to="/login" className="btn btn-primary submit">
          Go to Login
        </Link>
      )}
    </div>
  )
}
