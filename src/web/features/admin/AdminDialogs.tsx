import { useSelector } from 'react-redux'
import { selectDialog } from './adminSlice'
import { CreateInviteDialog } from './invites/CreateInviteDialog'
import { DeleteInviteDialog } from './invites/DeleteInviteDialog'
import { DeleteTokenDialog } from './dashboard/DeleteTokenDialog'
import { DeleteUserDialog } from './users/DeleteUserDialog'
import { DeleteKeyDialog } from './user/DeleteKeyDialog'
import { EndSessionsDialog } from './user/EndSessionsDialog'
import { MakeAdministratorDialog } from './users/MakeAdministratorDialog'
import { ResetPasswordDialog } from './users/ResetPasswordDialog'

export function AdminDialogs() {
  const dialog = useSelector(selectDialog)
  switch (dialog?.kind) {
    case 'resetPassword':
      return <ResetPasswordDialog id={dialog.id} />
    case 'makeAdministrator':
      return <MakeAdministratorDialog id={dialog.id} />
    case 'deleteUser':
      return <DeleteUserDialog id={dialog.id} />
    case 'createInvite':
      return <CreateInviteDialog creation={dialog} />
    case 'deleteInvite':
      return <DeleteInviteDialog inviteKey={dialog.key} />
    case 'deleteToken':
      return <DeleteTokenDialog />
    case 'endSessions':
      return <EndSessionsDialog userId={dialog.id} sessionId={dialog.of} />
    case 'deleteKey':
      return <DeleteKeyDialog userId={dialog.id} keyId={dialog.of} />
    case undefined:
      return null
  }
}
