import { useDispatch } from 'react-redux'
import type { AppDispatch } from '../app/types'
import { reportResult } from './reportProblem'

/** Returns a function that reports the result of a call on any page, see `reportResult`. */
export function useReportResult(options: { quiet?: boolean } = {}) {
  const dispatch = useDispatch<AppDispatch>()
  return (result: { error?: unknown }, success: string, failure: string) =>
    dispatch(reportResult(result, success, failure, options))
}

/** Product §8: failures of user, invite code and token actions are only logged, not shown as a toast. */
export const useReportQuietly = () => useReportResult({ quiet: true })
