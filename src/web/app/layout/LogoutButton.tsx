import { useLogout } from '../../api/signIn/useLogout'
import { Icon } from '../../ui/Icon'

export function LogoutButton() {
  const [logout, isLoading] = useLogout()
  return (
    // Leave guards look for `data-leaves` and ask about unsaved work before the click is handled.
    <button
      type="button"
      data-leaves="session"
      className="header-button header-logout"
      disabled={isLoading}
      onClick={logout}
    >
      <Icon name="exit" size={16} />
      Logout
    </button>
  )
}
