import { Link } from 'react-router-dom'
import { useGetActivityInfiniteQuery } from '../../../api/activity'
import { ActionIcon } from '../../../ui/ActionIcon'
import { ActivityRow } from '../activity/ActivityRow'
import { useActivityLinks } from '../activity/useActivityLinks'
import { EmptyState } from '../../../ui/EmptyState'
import { Section } from './Section'
import adminStyles from '../admin.module.scss'

/** Number of entries shown here. The activity page has all. */
const SHOWN = 8

export function UserActivity({ username }: { username: string }) {
  const query = useGetActivityInfiniteQuery({ username }, { refetchOnMountOrArgChange: true })
  const links = useActivityLinks()
  const entries = query.data?.pages[0]?.entries ?? []
  const toAll = (
    <Link to={`/activity?username=${encodeURIComponent(username)}`} className={adminStyles.action}>
      <ActionIcon name="activity" />
      All activity
    </Link>
  )
  return (
    <Section title="Recent activity" action={toAll} query={query} what="the activity">
      {entries.length === 0 ? (
        <EmptyState>Nothing in the last 90 days</EmptyState>
      ) : (
        <ul className={`panel ${adminStyles.list} ${adminStyles.table} ${adminStyles.wide}`}>
          {entries.slice(0, SHOWN).map((entry) => (
            <ActivityRow key={entry.id} entry={entry} links={links} />
          ))}
        </ul>
      )}
    </Section>
  )
}
