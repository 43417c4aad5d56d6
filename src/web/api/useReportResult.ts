import { useDispatch } from 'react-redux'
import type { AppDispatch } from '../app/types'
import { notified } from '../facts'
import { failureReason, reportProblem } from './reportProblem'

/**
 * Returns a function that reports the result of a call on any page: success and failure as a toast, a failure also in
 * the problem log. `quiet` omits the toast of a failure.
 */
export function useReportResult({ quiet = false } = {}) {
  const dispatch = useDispatch<AppDispatch>()
  return ({ error }: { error?: unknown }, success: string, failure: string) => {
    if (error) dispatch(reportProblem(failure, failureReason(error), quiet ? undefined : failure))
    else dispatch(notified('success', success))
  }
}
