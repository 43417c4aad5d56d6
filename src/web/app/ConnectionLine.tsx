import { useEffect, useState } from 'react'
import { useSelector } from 'react-redux'
import { selectLostAt } from '../sockets/realtimeSlice'

/** A connection that returns sooner is not worth a line that moves the page. In milliseconds. */
const PATIENCE_MS = 2000

/** The region is always there: readers announce only what appears inside one they already know. */
export function ConnectionLine() {
  const lostAt = useSelector(selectLostAt)
  const [toldOf, setToldOf] = useState<number | null>(null)
  useEffect(() => {
    if (lostAt === null) return
    const timer = setTimeout(() => setToldOf(lostAt), PATIENCE_MS)
    return () => clearTimeout(timer)
  }, [lostAt])

  return (
    <div role="status" className="connection-line">
      {lostAt !== null && toldOf === lostAt && (
        <p>
          Not connected since <time dateTime={new Date(lostAt).toISOString()}>{clockTime.format(lostAt)}</time>. Trying
          again …
        </p>
      )}
    </div>
  )
}

const clockTime = new Intl.DateTimeFormat(undefined, { timeStyle: 'short' })
