import { useLogout } from '../api/useLogout'
import { Icon } from '../ui/Icon'

export function LogoutButton() {
  const [logout, isLoading] = useLogout()
  return (
    // Guards of unsaved work look for the mark, and ask before the press is heard.
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
