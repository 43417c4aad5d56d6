import styles from './account.module.scss'

export function SessionsSkeleton() {
  return (
    <div className="placeholder-glow" role="status">
      <span className="visually-hidden">Loading your sessions</span>
      {[1, 2].map((row) => (
        <span key={row} className={`placeholder ${styles.sessionSkeleton}`} aria-hidden="true" />
      ))}
    </div>
  )
}
