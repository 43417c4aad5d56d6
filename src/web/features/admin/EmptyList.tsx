import type { ReactNode } from 'react'
import styles from './admin.module.scss'

/** Takes the place of an empty list and says why it is empty. */
export function EmptyList({ children }: { children: ReactNode }) {
  return <div className={styles.empty}>{children}</div>
}
