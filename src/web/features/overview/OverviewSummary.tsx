import type { Overview } from '../../api/network'
import { counted } from '../../ui/counted'
import { TimeAgo } from '../../ui/time/TimeAgo'
import styles from './overview.module.scss'

/** `since` is set if the state is an old one: the time when it was known, in milliseconds since the epoch. */
export function OverviewSummary({ overview, since }: { overview: Overview | undefined; since: number | undefined }) {
  if (!overview) return <p className="page-summary" />
  const instances = overview.sections.reduce((sum, section) => sum + section.instances.length, 0)
  return (
    <p className="page-summary">
      {counted(overview.sections.length, 'deployment')} · {counted(instances, 'instance')}
      {since !== undefined && (
        <>
          {' · '}
          <span className={styles.asOf}>
            last known <TimeAgo time={since} />
          </span>
        </>
      )}
    </p>
  )
}
