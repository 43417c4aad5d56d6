import { useDispatch, useStore } from 'react-redux'
import type { AppDispatch, RootState } from '../../app/types'
import { useLogoutMutation } from './auth'
import { failureText } from '../../failure'
import { failureReason, reportProblem } from '../reportProblem'

/**
 * Returns a function that signs out and resolves to whether the session is over. Only the server ends it (200, or 401
 * if it was over before), so that no valid session is left behind. Other failures are reported.
 */
export function useSignOut() {
  const [signOut, { isLoading }] = useLogoutMutation()
  const dispatch = useDispatch<AppDispatch>()
  const store = useStore<RootState>()
  const leave = async () => {
    const { error } = await signOut()
    // Checks the session, because after a 401 the session's end has reset the call and its error.
    const isOver = !error || !store.getState().session.current
    if (!isOver)
      dispatch(reportProblem('Failed to log out', failureReason(error), failureText(error, 'Failed to log out')))
    return isOver
  }
  return [leave, isLoading] as const
}
