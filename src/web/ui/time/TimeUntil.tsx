import { relativeTime, UNITS } from './timeAgo'
import { useNow } from './useNow'

const exact = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })
const HOUR_MS = 3_600_000

/** Returns `in 3 days` in the largest unit of which at least two are left, in whole numbers. */
function timeUntil(time: number, at: number): string {
  const left = time - at
  if (left < HOUR_MS) return 'within an hour'
  const [unit, length] = UNITS.find(([, ms]) => ms >= HOUR_MS && left >= 2 * ms) ?? ['hour', HOUR_MS]
  return relativeTime.format(Math.floor(left / length), unit)
}

/**
 * Shows the time left until a future time, with the exact time as tooltip. `time` is in milliseconds since the epoch.
 */
export function TimeUntil({ time }: { time: number }) {
  const now = useNow()
  if (!Number.isFinite(time)) return <span>at an unknown time</span>
  return (
    <time dateTime={new Date(time).toISOString()} title={exact.format(time)}>
      {timeUntil(time, now)}
    </time>
  )
}
