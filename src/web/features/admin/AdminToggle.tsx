import { useId } from 'react'
import { useSetAdminMutation } from '../../api/admin'
import { useOneAtATime } from '../../ui/useOneAtATime'
import { useOutcome } from './useOutcome'

export function AdminToggle({ id, username, isAdmin }: { id: number; username: string; isAdmin: boolean }) {
  const [setAdmin, { isLoading }] = useSetAdminMutation({ fixedCacheKey: `admin ${id}` })
  const tell = useOutcome()
  const inputId = useId()

  const change = useOneAtATime(async () => {
    // Not disabled meanwhile: the keyboard would lose its place.
    if (isLoading) return
    const result = await setAdmin({ id, is_admin: !isAdmin })
    tell(
      result,
      isAdmin ? `${username} is no longer an administrator` : `${username} is now an administrator`,
      isAdmin ? `Failed to take administration from ${username}` : `Failed to make ${username} an administrator`,
    )
  })

  return (
    <div className="user-role">
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
