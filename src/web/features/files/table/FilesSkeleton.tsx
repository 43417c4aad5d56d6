import styles from './fileTable.module.scss'

/** Each row has the height of a row of the table. */
export function FilesSkeleton() {
  return (
    <div className={`${styles.table} panel placeholder-glow`} role="status">
      <span className="visually-hidden">Loading the files</span>
      <div aria-hidden="true">
        {[0, 11, 9, 14, 7, 16, 12, 9].map((width, row) => (
          <div key={row} className={styles.skeletonRow}>
            {width > 0 && <span className="placeholder" style={{ width: `${width}rem` }} />}
          </div>
        ))}
      </div>
    </div>
  )
}
