import { failureText } from '../../api/failure'
import { useReport } from '../../api/useReport'

/** Product §8: failures of user, invite code and token actions are logged. As an extra, users are notified too. */
export function useOutcome() {
  const report = useReport()
  return (result: { error?: unknown }, success: string, failure: string) => {
    if (result.error) console.warn(`[admin] ${failure}: ${failureText(result.error, 'no reason was given')}`)
    report(result, success, failure)
  }
}
