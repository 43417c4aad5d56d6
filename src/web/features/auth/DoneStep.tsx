import { useEffect, useRef } from 'react'
import { Link } from 'react-router-dom'
import { Icon } from '../../ui/Icon'

export function DoneStep() {
  const message = useRef<HTMLDivElement>(null)
  // The submit button of the previous step is gone, and the focus with it.
  useEffect(() => message.current?.focus(), [])
  return (
    <div className="auth-done" role="status" ref={message} tabIndex={-1}>
      <span className="auth-done-mark">
        <Icon name="check" size={28} />
      </span>
      <p>Your account has been created successfully. You can now login with your credentials.</p>
      <Link to="/login" className="btn btn-primary submit">
        Go to Login
      </Link>
    </div>
  )
}
