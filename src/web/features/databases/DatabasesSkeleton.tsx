import styles from './databases.module.scss'

/** A placeholder with the height of two rows. */
export function DatabasesSkeleton({ section }: { section: string }) {
  return (
    <div className={`${styles.list} panel placeholder-glow`} role="status">
      <span className="visually-hidden">Loading {section}</span>
      {[1, 2].map((row) => (
        <div key={row} className={styles.skeletonRow} aria-hidden="true">
          <span className="placeholder" />
        </div>
      ))}
    </div>
  )
}
