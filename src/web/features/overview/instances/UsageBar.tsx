import styles from './instances.module.scss'

/** The share from which a bar is amber. */
const HIGH = 0.9

/** Repeats the figure beside it, so it is hidden from screen readers. */
export function UsageBar({ share }: { share: number }) {
  const shown = Math.min(1, Math.max(0, share))
  return (
    <span className={shown >= HIGH ? `${styles.bar} ${styles.high}` : styles.bar} aria-hidden="true">
      <span style={{ width: `${shown * 100}%` }} />
    </span>
  )
}
