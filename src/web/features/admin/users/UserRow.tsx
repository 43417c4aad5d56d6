import { userAddress } from '../../../addresses'
import { useRef } from 'react'
import { useDispatch } from 'react-redux'
import { Link } from 'react-router-dom'
import type { User } from '../../../../contract/admin'
import { Menu, MenuItem } from '../../../ui/Menu'
import { roles } from '../access/rights'
import { LastSeen } from './LastSeen'
import { AdminToggle } from './AdminToggle'
import { dialogOpened } from '../adminSlice'
import adminStyles from '../admin.module.scss'
import styles from './users.module.scss'

/** Administrators cannot demote or delete themselves (decisions §2), so their own row does not offer it. */
export function UserRow({ user, isOwn }: { user: User; isOwn: boolean }) {
  const { id, username, is_admin, role } = user
  const dispatch = useDispatch()
  const menu = useRef<HTMLDivElement>(null)

  const open = (kind: 'resetPassword' | 'deleteUser') => {
    // A dialog returns the focus to the element that had it. The chosen item would be gone by then.
    menu.current?.querySelector('button')?.focus()
    dispatch(dialogOpened({ kind, id }))
  }

  return (
    <li className={`${adminStyles.row} ${styles.row}`} aria-label={username}>
      <p className={styles.name}>
        <Link to={userAddress(id)} data-row title={username}>
          {username}
        </Link>
        {isOwn && <span className={adminStyles.quiet}>You</span>}
      </p>
      <p>
        {/* Another server has no roles. */}
        <span className={adminStyles.tag}>{role ? roles[role].name : is_admin ? 'Administrator' : 'User'}</span>
      </p>
      <p className={styles.seen}>{role && <LastSeen user={user} />}</p>
      {!isOwn && <AdminToggle user={user} />}
      <div ref={menu} className={styles.menu}>
        <Menu label={`Actions for ${username}`}>
          <MenuItem onClick={() => open('resetPassword')}>Reset password</MenuItem>
          {!isOwn && (
            <MenuItem danger onClick={() => open('deleteUser')}>
              Delete
            </MenuItem>
          )}
        </Menu>
      </div>
    </li>
  )
}
