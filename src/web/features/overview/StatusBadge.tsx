import { useEffect, useState } from 'react'
import styles from './overview.module.scss'

/** Delay before "Updating...", so that fast responses do not make the badge flicker at every poll. */
const SHOW_DELAY_MS = 250

const TEXTS = { updating: 'Updating...', failed: 'Failed', live: 'Live' } as const

type StatusBadgeProps = { isFetching: boolean; isFirst: boolean; failed: boolean }

export function StatusBadge({ isFetching, isFirst, failed }: StatusBadgeProps) {
  const isSlow = useIsSlow(isFetching)
  const status = isFetching && (isFirst || isSlow) ? 'updating' : failed ? 'failed' : 'live'
  return <span className={`${styles.statusBadge} ${styles[status]}`}>{TEXTS[status]}</span>
}

/** Whether a wait has lasted for `SHOW_DELAY_MS`. */
function useIsSlow(isWaiting: boolean) {
  const [isSlow, setIsSlow] = useState(false)
  useEffect(() => {
    if (!isWaiting) return
    const timer = setTimeout(() => setIsSlow(true), SHOW_DELAY_MS)
    return () => {
      clearTimeout(timer)
      setIsSlow(false)
    }
  }, [isWaiting])
  return isSlow
}
