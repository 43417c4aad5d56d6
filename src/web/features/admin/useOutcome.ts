import { useReport } from '../../api/useReport'

/** Product §8: failures of user, invite code and token actions are only logged. */
export const useOutcome = () => useReport({ quiet: true })
