import styles from './metrics.module.scss'

/** A placeholder with the height of the charts. */
export function MetricsSkeleton() {
  return (
    <div className={styles.metrics} role="status">
      <span className="visually-hidden">Loading the metrics</span>
      <div className={styles.ranges} aria-hidden="true">
        <button type="button" tabIndex={-1} disabled>
          &nbsp;
        </button>
      </div>
      {['CPU', 'Memory'].map((name) => (
        <div key={name} className={`${styles.metric} panel`} aria-hidden="true" />
      ))}
    </div>
  )
}
