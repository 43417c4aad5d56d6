import styles from './overview.module.scss'

/**
 * A placeholder with the heights of the figures and the toolbar, so that nothing jumps when the deployments are loaded.
 */
export function OverviewSkeleton() {
  return (
    <div className={`${styles.skeleton} placeholder-glow`} role="status">
      <span className="visually-hidden">Loading the network overview</span>
      <span className={`placeholder ${styles.skeletonTotals}`} aria-hidden="true" />
      <span className={`placeholder ${styles.skeletonToolbar}`} aria-hidden="true" />
      <span className={`placeholder ${styles.skeletonGroup}`} aria-hidden="true" />
    </div>
  )
}
