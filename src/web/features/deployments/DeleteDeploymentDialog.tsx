import { useDispatch } from 'react-redux'
import { useDeleteDeploymentMutation } from '../../api/deployments'
import { useReportResult } from '../../api/useReportResult'
import { ConfirmDialog } from '../../ui/dialog/ConfirmDialog'
import { dialogClosed } from './deploymentsSlice'
import { FailureAlert } from '../../ui/FailureAlert'
import { failureText } from '../../failure'

export function DeleteDeploymentDialog({ name }: { name: string }) {
  const [remove, { isLoading, error }] = useDeleteDeploymentMutation()
  const report = useReportResult()
  const dispatch = useDispatch()

  const onDelete = async () => {
    const result = await remove(name)
    report(result, `Successfully deleted ${name}`, `Failed to delete ${name}`)
    if (!result.error) dispatch(dialogClosed('delete'))
  }

  return (
    <ConfirmDialog
      title="Delete Deployment"
      action="Delete"
      busyText="Deleting..."
      busy={isLoading}
      onConfirm={onDelete}
      onClose={() => dispatch(dialogClosed('delete'))}
    >
      <FailureAlert error={error} text={failureText(error, `Failed to delete ${name}`)} />
      <p>Are you sure you want to delete the deployment &quot;{name}&quot;?</p>
      <p>This action cannot be undone.</p>
      <p className="form-text">Its instances are stopped first. Its files stay where they are.</p>
    </ConfirmDialog>
  )
}
