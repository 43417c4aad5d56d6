import { useDispatch } from 'react-redux'
import { useGetDeploymentsQuery } from '../../../api/deployments'
import { useDeleteFilesMutation } from '../../../api/files'
import type { ApiFailure } from '../../../failure'
import { FormDialog } from '../../../ui/dialog/FormDialog'
import { deploymentHints } from './deploymentHints'
import type { Deletion } from '../filesSlice'
import { deletionFailed, dialogClosed } from '../filesSlice'
import { NameList } from './NameList'
import styles from './fileDialogs.module.scss'
import { FailureAlert } from '../../../ui/FailureAlert'

export function DeleteEntriesDialog({ deletion: { items } }: { deletion: Deletion }) {
  const [remove, { isLoading, error }] = useDeleteFilesMutation()
  const dispatch = useDispatch()
  const [only] = items
  const directories = items.filter(({ type }) => type === 'd')
  const { data: deployments = [] } = useGetDeploymentsQuery(undefined, { skip: directories.length === 0 })

  const submit = async () => {
    const result = await remove(items)
    const failed = (result.error as ApiFailure | undefined)?.failed
    if (failed) dispatch(deletionFailed(failed.map(({ path }) => path)))
    else if (!result.error) dispatch(dialogClosed('delete'))
  }

  return (
    <FormDialog
      title={
        items.length === 1 && only
          ? `Delete ${only.type === 'd' ? 'Directory' : 'File'}`
          : `Delete ${items.length} Items`
      }
      action="Delete"
      busyText="Deleting..."
      variant="danger"
      busy={isLoading}
      onSubmit={submit}
      onClose={() => dispatch(dialogClosed('delete'))}
    >
      <FailureAlert error={error} title="Failed to delete files" />
      <p>{error ? 'These were not deleted:' : 'Are you sure you want to delete:'}</p>
      <NameList names={items.map(({ name }) => name)} />
      {deploymentHints(directories, deployments).map((hint) => (
        <p key={hint} className={styles.deleteHint}>
          {hint}
        </p>
      ))}
      {directories.length > 0 && <p>Directories are deleted with all their contents.</p>}
      <p>This action cannot be undone.</p>
    </FormDialog>
  )
}
