import type { AppDispatch, RootState } from '../app/types'
import { notified, problemLogged } from '../facts'
import type { ApiFailure } from '../failure'
import { failureDetail } from '../failure'

/** Number of failed entries that are listed. */
const MAX_LISTED = 20

/**
 * Adds a failure to the problem log. `toast` is also shown to the user; failures that are only logged (product §8) have
 * none.
 */
export const reportProblem =
  (what: string, reason: string, toast?: string) => (dispatch: AppDispatch, getState: () => RootState) => {
    // Without a session, the login page shows what happened.
    if (!getState().session.current) return
    dispatch(problemLogged(what, reason))
    if (toast !== undefined) dispatch(notified('danger', toast))
  }

/**
 * Reports the result of a call: success and failure as a toast, a failure also in the problem log. `quiet` omits the
 * toast of a failure.
 */
export const reportResult =
  ({ error }: { error?: unknown }, success: string, failure: string, { quiet = false } = {}) =>
  (dispatch: AppDispatch) => {
    if (error) dispatch(reportProblem(failure, failureReason(error), quiet ? undefined : failure))
    else dispatch(notified('success', success))
  }

/** Returns why a call failed, in the server's words; for several entries, one line for each. */
export function failureReason(error: unknown): string {
  const { failed = [] } = (error ?? {}) as Partial<ApiFailure>
  const each = failed.slice(0, MAX_LISTED).map(({ path, message }) => (message ? `${path}: ${message}` : path))
  if (failed.length > MAX_LISTED) each.push(`and ${failed.length - MAX_LISTED} more`)
  // The text of the whole call repeats that of the first entry.
  const detail = failed.some(({ message }) => message) ? '' : failureDetail(error)
  return [detail, ...each].filter(Boolean).join('\n') || 'The server gave no reason.'
}
