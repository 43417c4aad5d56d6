import { useDispatch } from 'react-redux'
import { useGetUsersQuery } from '../../../api/admin'
import { ConfirmDialog } from '../../../ui/dialog/ConfirmDialog'
import { dialogClosed } from '../adminSlice'
import { useAdminChange } from './useAdminChange'

/** For a limited user: the switch alone would remove their grants for good. */
export function MakeAdministratorDialog({ id }: { id: number }) {
  const { username } = useGetUsersQuery(undefined, {
    selectFromResult: ({ data }) => ({ username: data?.find((user) => user.id === id)?.username ?? `user ${id}` }),
  })
  const { change, isLoading } = useAdminChange({ id, username, isAdmin: false })
  const dispatch = useDispatch()

  const onConfirm = async () => {
    if (await change()) dispatch(dialogClosed('makeAdministrator'))
  }

  return (
    <ConfirmDialog
      title="Make Administrator"
      action="Make administrator"
      busyText="Changing..."
      busy={isLoading}
      onConfirm={onConfirm}
      onClose={() => dispatch(dialogClosed('makeAdministrator'))}
    >
      <p>
        An administrator may do everything. The rights that {username} has now are removed. If {username} stops being an
        administrator later, {username} will be an operator, who may do everything with all deployments, files and
        databases.
      </p>
    </ConfirmDialog>
  )
}
