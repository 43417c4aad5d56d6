import Button from 'react-bootstrap/Button'
import { useDispatch, useSelector } from 'react-redux'
import { failureDetail } from '../../../failure'
import { useGetUsersQuery } from '../../../api/admin'
import { ActionIcon } from '../../../ui/ActionIcon'
import { counted } from '../../../ui/counted'
import { LoadFailure } from '../../../ui/LoadFailure'
import { selectUserSearch, usersSearched } from '../adminSlice'
import { EmptyState } from '../../../ui/EmptyState'
import { ListSkeleton } from '../ListSkeleton'
import { SearchField } from '../../../ui/SearchField'
import { UserRow } from './UserRow'
import { useOwnId } from '../useOwnId'
import adminStyles from '../admin.module.scss'
import styles from './users.module.scss'

export function UsersTab({ onInvite }: { onInvite: () => void }) {
  const { data, error, isFetching, refetch } = useGetUsersQuery(undefined, {
    refetchOnFocus: true,
    refetchOnMountOrArgChange: true,
  })
  const search = useSelector(selectUserSearch)
  const ownId = useOwnId(data)
  const dispatch = useDispatch()
  const wanted = search.trim().toLowerCase()
  const shown = data?.filter(({ username }) => username.toLowerCase().includes(wanted))
  const admins = data?.filter(({ is_admin }) => is_admin).length ?? 0

  return (
    <>
      <div className={adminStyles.bar}>
        <SearchField label="Search users" text={search} onChange={(text) => dispatch(usersSearched(text))} />
        <p className={adminStyles.summary}>
          {data && `${counted(data.length, 'user')} · ${counted(admins, 'administrator')}`}
        </p>
        <Button className={`with-icon ${adminStyles.main}`} onClick={onInvite}>
          <ActionIcon name="plus" />
          Invite
        </Button>
      </div>
      {error && (
        <LoadFailure title="Failed to load users" detail={failureDetail(error)} busy={isFetching} onRetry={refetch} />
      )}
      {!data && !error && <ListSkeleton label="Loading the users" />}
      {data?.length === 0 && <EmptyState>No users yet</EmptyState>}
      {data && data.length > 0 && shown?.length === 0 && (
        <EmptyState>No user matches &quot;{search.trim()}&quot;</EmptyState>
      )}
      {shown && shown.length > 0 && (
        <div className={`panel ${adminStyles.table}`}>
          {/* Each cell has its own label, which is visible where there are no columns. */}
          <div className={`${adminStyles.columns} ${styles.row}`} aria-hidden="true">
            <span>User</span>
            <span>Role</span>
            <span>Last seen</span>
            <span>Administrator</span>
          </div>
          <ul className={adminStyles.list}>
            {shown.map((user) => (
              <UserRow key={user.id} user={user} isOwn={user.id === ownId} />
            ))}
          </ul>
        </div>
      )}
    </>
  )
}
