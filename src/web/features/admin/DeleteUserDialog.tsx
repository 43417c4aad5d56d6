import { useDispatch } from 'react-redux'
import { useDeleteUserMutation, useGetUsersQuery } from '../../api/admin'
import { ConfirmDialog } from '../../ui/ConfirmDialog'
import { dialogClosed } from './adminSlice'
import { useOutcome } from './useOutcome'

export function DeleteUserDialog({ id }: { id: number }) {
  const { username } = useGetUsersQuery(undefined, {
    selectFromResult: ({ data }) => ({ username: data?.find((user) => user.id === id)?.username ?? `user ${id}` }),
  })
  const [remove, { isLoading }] = useDeleteUserMutation()
  const tell = useOutcome()
  const dispatch = useDispatch()

  const onDelete = async () => {
    const result = await remove(id)
    tell(result, `Successfully deleted ${username}`, `Failed to delete ${username}`)
    if (!result.error) dispatch(dialogClosed('deleteUser'))
  }

  return (
    <ConfirmDialog
      title="Delete User"
      action="Delete"
      busyText="Deleting..."
      busy={isLoading}
      onConfirm={onDelete}
      onClose={() => dispatch(dialogClosed('deleteUser'))}
    >
      <p>Are you sure you want to delete the user &quot;{username}&quot;?</p>
      <p>This action cannot be undone.</p>
      <p className="form-text">Their sessions end at once. What they made stays.</p>
    </ConfirmDialog>
  )
}
