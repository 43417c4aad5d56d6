import { useSelector } from 'react-redux'
import { selectDialog } from './adminSlice'
import { CreateInviteDialog } from './CreateInviteDialog'
import { DeleteInviteDialog } from './DeleteInviteDialog'
import { DeleteTokenDialog } from './DeleteTokenDialog'
import { DeleteUserDialog } from './DeleteUserDialog'
import { ResetPasswordDialog } from './ResetPasswordDialog'

export function AdminDialogs() {
  const dialog = useSelector(selectDialog)
  switch (dialog?.kind) {
    case 'resetPassword':
      return <ResetPasswordDialog id={dialog.id} />
    case 'deleteUser':
      return <DeleteUserDialog id={dialog.id} />
    case 'createInvite':
      return <CreateInviteDialog creation={dialog} />
    case 'deleteInvite':
      return <DeleteInviteDialog inviteKey={dialog.key} />
    case 'deleteToken':
      return <DeleteTokenDialog />
    case undefined:
      return null
  }
}
