import styles from './deployments.module.scss'

/** Placeholder cards have the height of the real ones. */
export function DeploymentsSkeleton() {
  return (
    <div className="placeholder-glow" role="status">
      <span className="visually-hidden">Loading the deployments</span>
      {[1, 3, 1].map((cards, index) => (
        <div key={index} className={styles.section} aria-hidden="true">
          <span className={`placeholder ${styles.skeletonTitle}`} />
          <div className={styles.grid}>
            {Array.from({ length: cards }, (_, card) => (
              <span key={card} className={`placeholder ${styles.skeletonCard}`} />
            ))}
          </div>
        </div>
      ))}
    </div>
  )
}
