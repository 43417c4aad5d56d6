import type { ReactNode } from 'react'
import { useId } from 'react'
import { failureDetail } from '../../../failure'
import { LoadFailure } from '../../../ui/LoadFailure'
import { ListSkeleton } from '../ListSkeleton'
import styles from './user.module.scss'

type SectionProps = {
  title: string
  /** Beside the title, for example a button. */
  action?: ReactNode
  /** The query of the section's content. */
  query: { data?: unknown; error?: unknown; isFetching: boolean; refetch: () => unknown }
  /** The name of the content, for messages about loading and failures. */
  what: string
  children: ReactNode
}

/** A titled part of the page, with the states of the query that it shows. */
export function Section({ title, action, query: { data, error, isFetching, refetch }, what, children }: SectionProps) {
  const id = useId()
  return (
    <section className={styles.section} aria-labelledby={id}>
      <div className={styles.sectionHead}>
        <h2 id={id}>{title}</h2>
        {action}
      </div>
      {Boolean(error) && (
        <LoadFailure
          title={`Failed to load ${what}`}
          as="h3"
          detail={failureDetail(error)}
          busy={isFetching}
          onRetry={refetch}
        />
      )}
      {data === undefined && !error && <ListSkeleton label={`Loading ${what}`} />}
      {data !== undefined && children}
    </section>
  )
}
