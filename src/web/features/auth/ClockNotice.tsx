import { useGetClockProblemQuery } from '../../api/serverTime'

/** For who was signed out by the clock of this device. */
export function ClockNotice() {
  const { data: problem } = useGetClockProblemQuery(undefined, { refetchOnMountOrArgChange: true })
  return problem && <p className="alert alert-warning">{problem}</p>
}
