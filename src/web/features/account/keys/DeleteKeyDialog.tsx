import { useDispatch } from 'react-redux'
import { useDeleteApiKeyMutation, useGetApiKeysQuery } from '../../../api/keys'
import { useReportResult } from '../../../api/useReportResult'
import { ConfirmDialog } from '../../../ui/dialog/ConfirmDialog'
import { keyDialogClosed } from './keysSlice'

export function DeleteKeyDialog({ id }: { id: string }) {
  const { data: keys = [] } = useGetApiKeysQuery()
  const [remove, { isLoading }] = useDeleteApiKeyMutation()
  const report = useReportResult()
  const dispatch = useDispatch()
  const close = () => dispatch(keyDialogClosed('delete'))
  const name = keys.find((key) => key.id === id)?.name

  const onDelete = async () => {
    const result = await remove(id)
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
      <p>Are you sure you want to delete {name === undefined ? 'this API key' : <strong>{name}</strong>}?</p>
      <p className="form-text">Programs that use it are refused from now on.</p>
    </ConfirmDialog>
  )
}
