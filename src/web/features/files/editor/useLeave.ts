import { useNavigate } from 'react-router-dom'
import { useLogout } from '../../../api/signIn/useLogout'
import type { Leaving } from '../../../ui/leave/useLeaveGuard'

/** Returns a function that resumes the navigation or sign-out that the leave guard stopped. */
export function useLeave() {
  const navigate = useNavigate()
  const [logout] = useLogout()
  return async (leaving: Leaving) => {
    if ('to' in leaving) return navigate(leaving.to)
    if ('by' in leaving) return navigate(leaving.by)
    await logout()
  }
}
