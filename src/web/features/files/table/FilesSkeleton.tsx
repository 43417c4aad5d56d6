import { useRowHeights } from './useRowHeights'
import styles from './fileTable.module.scss'

/** Each row has the height of a row of the table. */
export function FilesSkeleton() {
  const { row: height, head } = useRowHeights()
  return (
    <div className={`${styles.table} panel placeholder-glow`} role="status">
      <span className="visually-hidden">Loading the files</span>
      <div aria-hidden="true">
        <div className={styles.skeletonTools} />
        <div className={styles.skeletonRow} style={{ height: head }} />
        {[11, 9, 14, 7, 16, 12, 9].map((width, row) => (
          <div key={row} className={styles.skeletonRow} style={{ height }}>
            <span className="placeholder" style={{ width: `${width}rem` }} />
          </div>
        ))}
      </div>
    </div>
  )
}
