import { useGetClockProblemQuery } from '../../api/transport/serverTime'

/** Warns a user whose session has expired if the clock of this device is wrong. */
export function ClockNotice() {
  const { data: problem } = useGetClockProblemQuery(undefined, { refetchOnMountOrArgChange: true })
  return problem && <p className="alert alert-warning">{problem}</p>
}
