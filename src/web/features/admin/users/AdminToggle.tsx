import { useId } from 'react'
import { useSetAdminMutation } from '../../../api/admin'
import { useOneAtATime } from '../../../ui/useOneAtATime'
import { useReportQuietly } from '../../../api/useReportResult'
import styles from './users.module.scss'

export function AdminToggle({ id, username, isAdmin }: { id: number; username: string; isAdmin: boolean }) {
  const [setAdmin, { isLoading }] = useSetAdminMutation({ fixedCacheKey: `admin ${id}` })
  const report = useReportQuietly()
  const inputId = useId()

  const change = useOneAtATime(async () => {
    // The switch is not disabled during the call, because it would lose the keyboard focus.
    if (isLoading) return
    const result = await setAdmin({ id, is_admin: !isAdmin })
    report(
      result,
      isAdmin ? `${username} is no longer an administrator` : `${username} is now an administrator`,
      isAdmin
        ? `Failed to remove administrator rights from ${username}`
        : `Failed to make ${username} an administrator`,
    )
  })

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
        onChange={change}
      />
      <label htmlFor={inputId}>Administrator</label>
    </div>
  )
}
