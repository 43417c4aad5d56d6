import styles from './overview.module.scss'

/** Has the heights of the sections, so that the layout does not jump when they are loaded. */
export function OverviewSkeleton() {
  return (
    <div className="placeholder-glow" role="status">
      <span className="visually-hidden">Loading the network overview</span>
      {[3, 2].map((cards, index) => (
        <div key={index} className={styles.deployment} aria-hidden="true">
          <div className={styles.deploymentHead}>
            <span className={`placeholder ${styles.skeletonTitle}`} />
          </div>
          <div className={styles.instances}>
            {Array.from({ length: cards }, (_, card) => (
              <span key={card} className={`placeholder ${styles.skeletonCard}`} />
            ))}
          </div>
        </div>
      ))}
    </div>
  )
}
