import { useDispatch } from 'react-redux'
import { useDeleteDashboardTokenMutation } from '../../../api/admin'
import { ConfirmDialog } from '../../../ui/dialog/ConfirmDialog'
import { dialogClosed } from '../adminSlice'
import { useReportQuietly } from '../../../api/useReportResult'

export function DeleteTokenDialog() {
  const [remove, { isLoading }] = useDeleteDashboardTokenMutation()
  const report = useReportQuietly()
  const dispatch = useDispatch()

  const onDelete = async () => {
    const result = await remove()
    report(result, 'Successfully deleted the dashboard token', 'Failed to delete the dashboard token')
    if (!result.error) dispatch(dialogClosed('deleteToken'))
  }

  return (
    <ConfirmDialog
      title="Delete Token"
      action="Delete"
      busyText="Deleting..."
      busy={isLoading}
      onConfirm={onDelete}
      onClose={() => dispatch(dialogClosed('deleteToken'))}
    >
      <p>Are you sure you want to delete the Kubernetes dashboard token?</p>
      <p className="form-text">Everyone who uses this token is signed out of the dashboard.</p>
    </ConfirmDialog>
  )
}
