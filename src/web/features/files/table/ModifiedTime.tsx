import { TimeAgo } from '../../../ui/time/TimeAgo'
import { useNow } from '../../../ui/time/useNow'

/** Age up to which times are relative. Older times are dates, by which a version is recognised. */
const RELATIVE_FOR_MS = 7 * 86_400_000
/** Tolerance for different clocks. */
const TOLERANCE_MS = 60_000
const INTERVAL_MS = 60_000

const date = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' })
const exact = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })

/** `time` is in milliseconds since the epoch. */
export function ModifiedTime({ time }: { time: number }) {
  const age = useNow(INTERVAL_MS) - time
  // `toJSON` returns null for an invalid date: file systems may contain times outside the range of Date.
  const dateTime = new Date(time).toJSON() as string | null
  if (dateTime === null) return <>–</>
  if (age > -TOLERANCE_MS && age < RELATIVE_FOR_MS) return <TimeAgo time={time} />
  return (
    <time dateTime={dateTime} title={exact.format(time)}>
      {date.format(time)}
    </time>
  )
}
