import { useEffect, useState } from 'react'
import styles from './overview.module.scss'

/** Delay before "Updating...", so that fast answers do not make the badge flicker at every poll. */
const SHOW_DELAY_MS = 250

type StatusBadgeProps = { isFetching: boolean; isFirst: boolean; failed: boolean }

export function StatusBadge({ isFetching, isFirst, failed }: StatusBadgeProps) {
  const slow = useSlow(isFetching)
  const [text, tone] =
    isFetching && (isFirst || slow)
      ? (['Updating...', 'updating'] as const)
      : failed
        ? (['Failed', 'failed'] as const)
        : (['Live', 'live'] as const)
  return <span className={`${styles.statusBadge} ${styles[tone]}`}>{text}</span>
}

function useSlow(waiting: boolean) {
  const [slow, setSlow] = useState(false)
  useEffect(() => {
    if (!waiting) return
    const timer = setTimeout(() => setSlow(true), SHOW_DELAY_MS)
    return () => {
      clearTimeout(timer)
      setSlow(false)
    }
  }, [waiting])
  return slow
}
