import { useDispatch } from 'react-redux'
import { useDeleteUserMutation, useGetUsersQuery } from '../../../api/admin'
import { ConfirmDialog } from '../../../ui/dialog/ConfirmDialog'
import { dialogClosed } from '../adminSlice'
import { useReportQuietly } from '../../../api/useReportResult'

export function DeleteUserDialog({ id }: { id: number }) {
  const { username } = useGetUsersQuery(undefined, {
    selectFromResult: ({ data }) => ({ username: data?.find((user) => user.id === id)?.username ?? `user ${id}` }),
  })
  const [remove, { isLoading }] = useDeleteUserMutation()
  const report = useReportQuietly()
  const dispatch = useDispatch()

  const onDelete = async () => {
    const result = await remove(id)
    report(result, `Successfully deleted ${username}`, `Failed to delete ${username}`)
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
      <p className="form-text">Their sessions end at once. Deployments, files and databases stay.</p>
    </ConfirmDialog>
  )
}
