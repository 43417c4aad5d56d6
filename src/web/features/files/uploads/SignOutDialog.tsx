import { useDispatch } from 'react-redux'
import { useSignOut } from '../../../api/signIn/useSignOut'
import { ConfirmDialog } from '../../../ui/dialog/ConfirmDialog'
import { signOutDeclined } from './uploadSlice'

/** Uploads cannot continue without the session's token. */
export function SignOutDialog() {
  const [signOut, isLoading] = useSignOut()
  const dispatch = useDispatch()
  const leave = async () => {
    if (!(await signOut())) dispatch(signOutDeclined())
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
