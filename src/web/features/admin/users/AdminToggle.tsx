import { useId } from 'react'
import { useDispatch } from 'react-redux'
import type { User } from '../../../../contract/admin'
import { useOneAtATime } from '../../../ui/useOneAtATime'
import { dialogOpened } from '../adminSlice'
import { useAdminChange } from './useAdminChange'
import styles from './users.module.scss'

export function AdminToggle({ user: { id, username, is_admin: isAdmin, role } }: { user: User }) {
  const { change, isLoading } = useAdminChange({ id, username, isAdmin })
  const changeOnce = useOneAtATime(change)
  const dispatch = useDispatch()
  const inputId = useId()

  const onChange = () => {
    // The switch is not disabled during the call, because it would lose the keyboard focus.
    if (isLoading) return
    if (role === 'limited') dispatch(dialogOpened({ kind: 'makeAdministrator', id }))
    else void changeOnce()
  }

  return (
    <div className={styles.toggle}>
      <input
        id={inputId}
        type="checkbox"
        role="switch"
        className="switch"
        checked={isAdmin}
        aria-label={`${username} is an administrator`}
        aria-disabled={isLoading}
        onChange={onChange}
      />
      <label htmlFor={inputId}>Administrator</label>
    </div>
  )
}
