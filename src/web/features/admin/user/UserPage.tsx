import { useEffect, useRef } from 'react'
import { useDispatch, useSelector } from 'react-redux'
import { Link, useParams } from 'react-router-dom'
import type { User } from '../../../../contract/admin'
import { useGetUsersQuery } from '../../../api/admin'
import { failureDetail } from '../../../failure'
import { LoadFailure } from '../../../ui/LoadFailure'
import { Notice } from '../../../ui/Notice'
import { BackLink } from '../../../ui/pageHead/BackLink'
import { useFocusFallback } from '../../../ui/useFocusFallback'
import { roleOf, roles } from '../access/rights'
import { AdminDialogs } from '../AdminDialogs'
import { dialogClosed, selectDialog } from '../adminSlice'
import { ListSkeleton } from '../ListSkeleton'
import { useOwnId } from '../useOwnId'
import { LastSeen } from '../users/LastSeen'
import { UserActivity } from './UserActivity'
import type { KeyList } from './UserKeys'
import { UserKeys } from './UserKeys'
import { UserMethods } from './UserMethods'
import { UserRights } from './UserRights'
import { UserSessions } from './UserSessions'
import adminStyles from '../admin.module.scss'
import styles from './user.module.scss'

/** One user's rights, sign-in methods, sessions and activity, for administrators. */
export function UserPage({ keyList }: { keyList: KeyList }) {
  const id = Number(useParams()['id'])
  const { data, error, isFetching, refetch } = useGetUsersQuery(undefined, { refetchOnMountOrArgChange: true })
  const ownId = useOwnId(data)
  const user = data?.find((candidate) => candidate.id === id)

  if (user) return <UserDetails key={id} user={user} isOwn={id === ownId} keyList={keyList} />
  if (data && !isFetching)
    return (
      <Notice
        title="User Not Found"
        icon="compass"
        actions={
          <Link to="/admin" className="btn btn-primary">
            All users
          </Link>
        }
      >
        <title>User Not Found · Quarterdeck</title>
        <p>This user does not exist, or was deleted.</p>
      </Notice>
    )
  return (
    <>
      <title>User · Quarterdeck</title>
      {error && !isFetching ? (
        <LoadFailure title="Failed to load users" detail={failureDetail(error)} busy={isFetching} onRetry={refetch} />
      ) : (
        <ListSkeleton label="Loading the user" />
      )}
    </>
  )
}

function UserDetails({ user, isOwn, keyList }: { user: User; isOwn: boolean; keyList: KeyList }) {
  const { id, username } = user
  const dispatch = useDispatch()
  const page = useRef<HTMLDivElement>(null)
  useFocusFallback(page, useSelector(selectDialog) !== null)
  useEffect(() => () => void dispatch(dialogClosed()), [dispatch])

  return (
    <div ref={page} className={styles.page} tabIndex={-1}>
      <title>{`${username} · Administration · Quarterdeck`}</title>
      <div className={styles.head}>
        <BackLink to="/admin">Back to all users</BackLink>
        <div>
          <h1>
            {username}
            {isOwn && <span className={adminStyles.tag}>You</span>}
          </h1>
          <p>
            {roles[roleOf(user)].name} · <LastSeen user={user} />
          </p>
        </div>
      </div>
      <UserRights id={id} username={username} isOwn={isOwn} />
      <div className={styles.columns}>
        <UserMethods id={id} />
        <div className={styles.column}>
          <UserSessions id={id} />
          <UserKeys id={id} keyList={keyList} />
        </div>
      </div>
      <UserActivity username={username} />
      <AdminDialogs />
    </div>
  )
}
