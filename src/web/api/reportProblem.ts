import type { AppDispatch, RootState } from '../app/types'
import { notified, problemMet } from '../facts'
import type { ApiFailure } from './failure'
import { failureDetail } from './failure'

/** How many of the things that a call could not do are named. */
const NAMED = 20

/**
 * Enters a failure into the problem log. With `toast`, the user is notified too, by that text. What the product only
 * logs (product §8) has none.
 */
export const reportProblem =
  (what: string, reason: string, toast?: string) => (dispatch: AppDispatch, getState: () => RootState) => {
    // Without a session the login page says what happened.
    if (!getState().session.current) return
    dispatch(problemMet(what, reason))
    if (toast !== undefined) dispatch(notified('danger', toast))
  }

/** Why a call failed, in the server's words; for a call for several things, why each of them failed. */
export function reasonOf(error: unknown): string {
  const { failed = [] } = (error ?? {}) as Partial<ApiFailure>
  const each = failed.slice(0, NAMED).map(({ path, message }) => (message ? `${path}: ${message}` : path))
  if (failed.length > NAMED) each.push(`and ${failed.length - NAMED} more`)
  // The text of the call is that of the first of them.
  const detail = failed.some(({ message }) => message) ? '' : failureDetail(error)
  return [detail, ...each].filter(Boolean).join('\n') || 'The server gave no reason.'
}
