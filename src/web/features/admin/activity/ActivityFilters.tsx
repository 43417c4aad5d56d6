import { useDispatch, useSelector } from 'react-redux'
import { useSearchParams } from 'react-router-dom'
import type { ActivityKind } from '../../../../contract/admin'
import { useGetUsersQuery } from '../../../api/admin'
import { activityKinds } from './activityKinds'
import { activityFiltered, selectActivityFilter } from '../adminSlice'
import { RefreshButton } from '../../../ui/pageHead/RefreshButton'
import { SearchField } from '../../../ui/SearchField'
import adminStyles from '../admin.module.scss'
import styles from './activity.module.scss'

const PERIODS = [
  { hours: 1, text: 'Last hour' },
  { hours: 24, text: 'Last 24 hours' },
  { hours: 7 * 24, text: 'Last 7 days' },
  { hours: 30 * 24, text: 'Last 30 days' },
]

type ActivityFiltersProps = {
  /** The user in the page's address, to which links for one user's activity lead. Empty: all users. */
  username: string
  busy: boolean
  onRefresh: () => unknown
}

export function ActivityFilters({ username, busy, onRefresh }: ActivityFiltersProps) {
  const { kind, hours, search } = useSelector(selectActivityFilter)
  const { data: users = [] } = useGetUsersQuery()
  const setParameters = useSearchParams()[1]
  const dispatch = useDispatch()
  // The log also has entries of users who were deleted.
  const names = new Set([...users.map((user) => user.username), ...(username ? [username] : [])])
  return (
    <div className={`${adminStyles.bar} ${styles.bar}`}>
      <SearchField
        label="Search activity"
        text={search}
        onChange={(text) => dispatch(activityFiltered({ search: text }))}
      />
      <select
        className="form-select"
        aria-label="User"
        value={username}
        onChange={({ target }) => setParameters(target.value ? { username: target.value } : {}, { replace: true })}
      >
        <option value="">All users</option>
        {[...names]
          .sort((a, b) => a.localeCompare(b))
          .map((name) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
      </select>
      <select
        className="form-select"
        aria-label="Kind of activity"
        value={kind ?? ''}
        onChange={({ target }) => dispatch(activityFiltered({ kind: (target.value || null) as ActivityKind | null }))}
      >
        <option value="">All kinds</option>
        {Object.entries(activityKinds).map(([value, name]) => (
          <option key={value} value={value}>
            {name}
          </option>
        ))}
      </select>
      <select
        className="form-select"
        aria-label="Time"
        value={hours ?? ''}
        onChange={({ target }) => dispatch(activityFiltered({ hours: target.value ? Number(target.value) : null }))}
      >
        <option value="">Any time</option>
        {PERIODS.map((period) => (
          <option key={period.hours} value={period.hours}>
            {period.text}
          </option>
        ))}
      </select>
      <div className={adminStyles.main}>
        <RefreshButton busy={busy} onRefresh={onRefresh} />
      </div>
    </div>
  )
}
