import { useDispatch, useSelector } from 'react-redux'
import { Link } from 'react-router-dom'
import type { ActivityKind } from '../../../../contract/admin'
import { ActionIcon } from '../../../ui/ActionIcon'
import { Icon } from '../../../ui/Icon'
import { activityKinds } from './activityKinds'
import { activityFiltered, selectActivityFilter } from '../adminSlice'
import { SearchField } from '../../../ui/SearchField'
import '../../../styles/select.scss'
import adminStyles from '../admin.module.scss'
import styles from './activity.module.scss'

type ActivityFiltersProps = {
  /** Of the address, whose links lead to one user's activity. Empty: of all users. */
  username: string
  busy: boolean
  onRefresh: () => unknown
}

export function ActivityFilters({ username, busy, onRefresh }: ActivityFiltersProps) {
  const { kind, search } = useSelector(selectActivityFilter)
  const dispatch = useDispatch()
  return (
    <div className={`${adminStyles.bar} ${styles.bar}`}>
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
      {username && (
        <Link
          to="/activity"
          className={styles.user}
          aria-label={`Show the activity of all users, not only of ${username}`}
        >
          <span>{username}</span>
          <Icon name="close" size={14} />
        </Link>
      )}
      <SearchField
        label="Search activity"
        text={search}
        onChange={(text) => dispatch(activityFiltered({ search: text }))}
      />
      <button
        type="button"
        className={`${adminStyles.action} ${styles.refresh}`}
        aria-disabled={busy}
        onClick={() => !busy && onRefresh()}
      >
        <ActionIcon name="restart" />
        Refresh
      </button>
    </div>
  )
}
