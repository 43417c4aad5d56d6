import type { ReactNode } from 'react'
import { Fragment, useEffect } from 'react'
import { useDispatch, useSelector } from 'react-redux'
import { Navigate, useLocation } from 'react-router-dom'
import { signInRequired } from '../../facts'
import { selectEnded, selectSession } from '../../features/auth/sessionSlice'

/** Redirects to /login without a session. Remembers the address in the store, and in the history state for a reload. */
export function RequireSession({ children }: { children: ReactNode }) {
  const session = useSelector(selectSession)?.id
  const ended = useSelector(selectEnded)
  const { pathname, search } = useLocation()
  const dispatch = useDispatch()
  const origin = pathname + search

  useEffect(() => {
    if (session === undefined) dispatch(signInRequired(origin))
  }, [session, origin, dispatch])

  // Another tab may replace the session between two renders. Its pages start anew, because the slices have done so.
  if (session !== undefined) return <Fragment key={session}>{children}</Fragment>
  return <Navigate to="/login" replace state={ended === 'signedOut' ? null : { origin }} />
}
