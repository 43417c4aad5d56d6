import { useNavigate } from 'react-router-dom'
import { useSignOut } from '../../../api/signIn/useSignOut'
import type { Leaving } from '../../../ui/leave/useLeaveGuard'

/** Returns a function that resumes the navigation or sign-out that the leave guard stopped. */
export function useLeave() {
  const navigate = useNavigate()
  const [signOut] = useSignOut()
  return async (leaving: Leaving) => {
    if ('to' in leaving) return navigate(leaving.to)
    if ('by' in leaving) return navigate(leaving.by)
    await signOut()
  }
}
