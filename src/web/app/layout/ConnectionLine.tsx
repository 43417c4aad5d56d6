import { useEffect, useState } from 'react'
import { useSelector } from 'react-redux'
import { selectLostAt } from '../../sockets/realtimeSlice'

/** Delay before the line appears, so that a short interruption does not move the page. */
const SHOW_DELAY_MS = 2000

/** Always rendered: screen readers announce changes only in a live region that already exists. */
export function ConnectionLine() {
  const lostAt = useSelector(selectLostAt)
  const [shownFor, setShownFor] = useState<number | null>(null)
  useEffect(() => {
    if (lostAt === null) return
    const timer = setTimeout(() => setShownFor(lostAt), SHOW_DELAY_MS)
    return () => clearTimeout(timer)
  }, [lostAt])

  return (
    <div role="status" className="connection-line">
      {lostAt !== null && shownFor === lostAt && (
        <p>
          Not connected since <time dateTime={new Date(lostAt).toISOString()}>{clockTime.format(lostAt)}</time>. Trying
          again …
        </p>
      )}
    </div>
  )
}

const clockTime = new Intl.DateTimeFormat(undefined, { timeStyle: 'short' })
