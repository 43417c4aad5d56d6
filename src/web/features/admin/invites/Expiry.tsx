import { useNow } from '../../../ui/time/useNow'

const exact = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })
const relative = new Intl.RelativeTimeFormat('en')
const HOUR_MS = 3_600_000

/** When an invite ends, with the exact time as tooltip. `time` is in milliseconds since the epoch. */
export function Expiry({ time }: { time: number }) {
  const hours = Math.max(0, Math.floor((time - useNow()) / HOUR_MS))
  return (
    <>
      expires{' '}
      <time dateTime={new Date(time).toISOString()} title={exact.format(time)}>
        {hours === 0
          ? 'within an hour'
          : hours < 48
            ? relative.format(hours, 'hour')
            : relative.format(Math.floor(hours / 24), 'day')}
      </time>
    </>
  )
}
