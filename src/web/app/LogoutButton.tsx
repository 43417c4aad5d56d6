import { useDispatch } from 'react-redux'
import { useLogoutMutation } from '../api/auth'
import { failureText } from '../api/failure'
import { notified } from '../facts'
import { Icon } from '../ui/Icon'

export function LogoutButton() {
  const [logout, { isLoading }] = useLogoutMutation()
  const dispatch = useDispatch()
  const leave = async () => {
    const { error } = await logout()
    // The session stays: only a 200 ends it here, so that nobody walks away from a session that lives on.
    if (error && !('status' in error && error.status === 401)) {
      dispatch(notified('danger', failureText(error, 'Failed to log out')))
    }
  }
  return (
    // Guards of unsaved work look for the mark, and ask before the press is heard.
    <button type="button" data-leaves="session" className="header-button header-logout" disabled={isLoading} onClick={leave}>
      <Icon name="exit" size={16} />
      Logout
    </button>
  )
}
