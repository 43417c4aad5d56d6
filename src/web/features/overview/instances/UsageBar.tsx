import styles from './usageBar.module.scss'

/** The share from which a bar is amber. */
const HIGH = 0.9

type UsageBarProps = {
  /** From 0 to 1. */
  share: number
  /** Places the bar in the parent's layout. */
  className: string | undefined
}

/** Repeats the figure beside it, so it is hidden from screen readers. */
export function UsageBar({ share, className }: UsageBarProps) {
  const shown = Math.min(1, Math.max(0, share))
  return (
    <span className={`${className} ${styles.bar} ${shown >= HIGH ? styles.high : ''}`} aria-hidden="true">
      <span style={{ width: `${shown * 100}%` }} />
    </span>
  )
}
