import styles from './databases.module.scss'

/** Has the height of two cards. */
export function DatabasesSkeleton({ section }: { section: string }) {
  return (
    <div className={`${styles.list} placeholder-glow`} role="status">
      <span className="visually-hidden">Loading {section}</span>
      {[1, 2].map((card) => (
        <span key={card} className={`placeholder ${styles.skeletonCard}`} aria-hidden="true" />
      ))}
    </div>
  )
}
