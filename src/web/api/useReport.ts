import { useDispatch } from 'react-redux'
import type { AppDispatch } from '../app/types'
import { notified } from '../facts'
import { reasonOf, reportProblem } from './reportProblem'

/**
 * Tells how a call ended, wherever in the console the user is by then: a success and a failure by a toast, the failure
 * with its reason in the problem log. `quiet` leaves out the toast of a failure.
 */
export function useReport({ quiet = false } = {}) {
  const dispatch = useDispatch<AppDispatch>()
  return ({ error }: { error?: unknown }, success: string, failure: string) => {
    if (error) dispatch(reportProblem(failure, reasonOf(error), quiet ? undefined : failure))
    else dispatch(notified('success', success))
  }
}
