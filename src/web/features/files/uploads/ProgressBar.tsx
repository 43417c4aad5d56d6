import styles from './transfers.module.scss'

/** Indeterminate if `total` is null. */
export function ProgressBar({ label, done, total }: { label: string; done: number; total: number | null }) {
  const percent = total === null ? undefined : total === 0 ? 100 : Math.min(100, Math.floor((done / total) * 100))
  return (
    <div
      className={percent === undefined ? `${styles.bar} ${styles.unknown}` : styles.bar}
      role="progressbar"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={percent}
    >
      <span style={percent === undefined ? undefined : { width: `${percent}%` }} />
    </div>
  )
}
