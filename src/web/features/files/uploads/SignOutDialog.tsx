import { useDispatch } from 'react-redux'
import { useLogout } from '../../../api/signIn/useLogout'
import { ConfirmDialog } from '../../../ui/dialog/ConfirmDialog'
import { signOutDeclined } from './uploadSlice'

/** Uploads cannot continue without the session's token. */
export function SignOutDialog() {
  const [logout, isLoading] = useLogout()
  const dispatch = useDispatch()
  const leave = async () => {
    if (!(await logout())) dispatch(signOutDeclined())
  }
  return (
    <ConfirmDialog
      title="Log out while uploading?"
      action="Logout"
      busyText="Logging out..."
      busy={isLoading}
      onConfirm={leave}
      onClose={() => dispatch(signOutDeclined())}
    >
      <p>Files are still being uploaded. Logging out cancels these uploads; completed files stay.</p>
    </ConfirmDialog>
  )
}
