import styles from './admin.module.scss'

export function ListSkeleton({ label }: { label: string }) {
  return (
    <div className={`placeholder-glow panel ${styles.panelList}`} role="status">
      <span className="visually-hidden">{label}</span>
      {[1, 2, 3].map((row) => (
        <span key={row} className={styles.row} aria-hidden="true">
          <span className={`placeholder ${styles.skeleton}`} />
        </span>
      ))}
    </div>
  )
}
