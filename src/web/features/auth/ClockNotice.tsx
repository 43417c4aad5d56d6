import { useGetClockProblemQuery } from '../../api/serverTime'

/** Tells a user whose session has expired when the clock of this device is wrong. */
export function ClockNotice() {
  const { data: problem } = useGetClockProblemQuery(undefined, { refetchOnMountOrArgChange: true })
  return problem && <p className="alert alert-warning">{problem}</p>
}
