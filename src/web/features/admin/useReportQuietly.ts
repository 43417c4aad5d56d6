import { useReportResult } from '../../api/useReportResult'

/** Product §8: failures of user, invite code and token actions are only logged, not shown as a toast. */
export const useReportQuietly = () => useReportResult({ quiet: true })
