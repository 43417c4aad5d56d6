import styles from './deployments.module.scss'

/** Placeholder rows have the height of the real ones. */
export function DeploymentsSkeleton() {
  return (
    <div className="placeholder-glow" role="status">
      <span className="visually-hidden">Loading the deployments</span>
      {[1, 5, 2].map((rows, index) => (
        <div key={index} className={styles.section} aria-hidden="true">
          <span className={`placeholder ${styles.skeletonTitle}`} />
          <div className={`${styles.rows} panel`}>
            {Array.from({ length: rows }, (_, row) => (
              <div key={row} className={styles.skeletonRow}>
                <span className="placeholder" />
                <span className="placeholder" />
              </div>
            ))}
          </div>
        </div>
      ))}
    </div>
  )
}
