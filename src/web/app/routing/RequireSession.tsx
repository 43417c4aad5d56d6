import type { ReactNode } from 'react'
import { useEffect } from 'react'
import { useDispatch, useSelector } from 'react-redux'
import { Navigate, useLocation } from 'react-router-dom'
import { signInRequired } from '../../facts'
import { selectEnded, selectSignedIn } from '../../features/auth/sessionSlice'

/** Redirects to /login without a session. Remembers the address in the store, and in the history state for a reload. */
export function RequireSession({ children }: { children: ReactNode }) {
  const signedIn = useSelector(selectSignedIn)
  const ended = useSelector(selectEnded)
  const { pathname, search } = useLocation()
  const dispatch = useDispatch()
  const origin = pathname + search

  useEffect(() => {
    if (!signedIn) dispatch(signInRequired(origin))
  }, [signedIn, origin, dispatch])

  if (signedIn) return children
  return <Navigate to="/login" replace state={ended === 'signedOut' ? null : { origin }} />
}
