import { useDispatch } from 'react-redux'
import { useDeleteUserKeyMutation, useGetUserKeysQuery } from '../../../api/users'
import { ConfirmDialog } from '../../../ui/dialog/ConfirmDialog'
import { dialogClosed } from '../adminSlice'
import { useReportQuietly } from '../../../api/useReportResult'

export function DeleteKeyDialog({ userId, keyId }: { userId: number; keyId: string }) {
  const { data: keys = [] } = useGetUserKeysQuery(userId)
  const [remove, { isLoading }] = useDeleteUserKeyMutation()
  const report = useReportQuietly()
  const dispatch = useDispatch()
  const close = () => dispatch(dialogClosed('deleteKey'))
  const name = keys.find(({ id }) => id === keyId)?.name

  const onDelete = async () => {
    const result = await remove({ id: userId, of: keyId })
    report(result, 'Successfully deleted the API key', 'Failed to delete the API key')
    if (!result.error) close()
  }

  return (
    <ConfirmDialog
      title="Delete API Key"
      action="Delete"
      busyText="Deleting..."
      busy={isLoading}
      onConfirm={onDelete}
      onClose={close}
    >
      {name === undefined ? (
        <p>This API key is no longer in the list.</p>
      ) : (
        <p>
          Are you sure you want to delete the API key <strong>{name}</strong>?
        </p>
      )}
      <p className="form-text">Programs that use it are refused from now on.</p>
    </ConfirmDialog>
  )
}
