import { useDispatch, useStore } from 'react-redux'
import type { AppDispatch, RootState } from '../app/types'
import { useLogoutMutation } from './auth'
import { failureText } from './failure'
import { reasonOf, reportProblem } from './reportProblem'

/**
 * Signs out, and answers whether the session is over. Only the server ends it, so that nobody walks away from a session
 * that lives on: by a 200, or by a 401, which says that it was over already. Whatever else it says is told.
 */
export function useLogout() {
  const [logout, { isLoading }] = useLogoutMutation()
  const dispatch = useDispatch<AppDispatch>()
  const store = useStore<RootState>()
  const leave = async () => {
    const { error } = await logout()
    // Not by the error: with the session the call itself was forgotten.
    const isOver = !error || !store.getState().session.current
    if (!isOver) dispatch(reportProblem('Failed to log out', reasonOf(error), failureText(error, 'Failed to log out')))
    return isOver
  }
  return [leave, isLoading] as const
}
