import { useDispatch } from 'react-redux'
import { Link } from 'react-router-dom'
import type { User } from '../../../../contract/admin'
import { ActionIcon } from '../../../ui/ActionIcon'
import { roleOf, roles } from '../access/rights'
import { LastSeen } from './LastSeen'
import { AdminToggle } from './AdminToggle'
import { dialogOpened } from '../adminSlice'
import adminStyles from '../admin.module.scss'
import styles from './users.module.scss'

/** Administrators cannot demote or delete themselves (decisions §2), so their own row does not offer it. */
export function UserRow({ user, isOwn }: { user: User; isOwn: boolean }) {
  const { id, username, is_admin } = user
  const dispatch = useDispatch()
  return (
    <li className={`${adminStyles.row} ${styles.row}`} aria-label={username}>
      <div>
        <p className={styles.name}>
          <Link to={`/admin/users/${id}`}>{username}</Link>
          {isOwn && <span className={adminStyles.tag}>You</span>}
        </p>
        {/* Another server has no roles. */}
        {user.role && (
          <p className={styles.trace}>
            {/* One's own is in the next column, where others have a switch. */}
            {!isOwn && `${roles[roleOf(user)].name} · `}
            <LastSeen user={user} />
          </p>
        )}
      </div>
      {isOwn ? (
        <span className={styles.role}>{is_admin ? 'Administrator' : 'User'}</span>
      ) : (
        <AdminToggle id={id} username={username} isAdmin={is_admin} />
      )}
      <div className={`${adminStyles.actions} ${styles.actions}`}>
        <button
          type="button"
          className={adminStyles.action}
          aria-label={`Reset the password of ${username}`}
          onClick={() => dispatch(dialogOpened({ kind: 'resetPassword', id }))}
        >
          <ActionIcon name="key" />
          Reset password
        </button>
        {!isOwn && (
          <button
            type="button"
            className={`${adminStyles.action} ${adminStyles.danger}`}
            aria-label={`Delete ${username}`}
            onClick={() => dispatch(dialogOpened({ kind: 'deleteUser', id }))}
          >
            <ActionIcon name="trash" />
            Delete
          </button>
        )}
      </div>
    </li>
  )
}
