import { timeAgo } from './timeAgo'
import { useNow } from './useNow'

const absolute = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })

/** Shows a relative time that updates, with the exact time as tooltip. `time` is in milliseconds since the epoch. */
export function TimeAgo({ time }: { time: number }) {
  const now = useNow()
  if (!Number.isFinite(time)) return <span>unknown</span>
  return (
    // In an alert, its changes would be announced every minute.
    <time aria-live="off" dateTime={new Date(time).toISOString()} title={absolute.format(time)}>
      {timeAgo(time, now)}
    </time>
  )
}
