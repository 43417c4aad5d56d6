import { useSignOut } from '../../api/signIn/useSignOut'
import { Icon } from '../../ui/Icon'

export function SignOutButton() {
  const [signOut, isLoading] = useSignOut()
  return (
    // Leave guards look for `data-leaves` and ask about unsaved work before the click is handled.
    <button
      type="button"
      data-leaves="session"
      className="header-button header-logout"
      disabled={isLoading}
      onClick={signOut}
    >
      <Icon name="exit" size={16} />
      Logout
    </button>
  )
}
