import { useDispatch } from 'react-redux'
import type { DatabaseType } from '../../../contract/database'
import { useDeleteDatabaseMutation } from '../../api/databases'
import { useReportResult } from '../../api/useReportResult'
import { ConfirmDialog } from '../../ui/dialog/ConfirmDialog'
import { dialogClosed } from './databasesSlice'
import { appearances } from './databaseType'
import { FailureAlert } from '../../ui/FailureAlert'
import { failureText } from '../../failure'

export function DeleteDatabaseDialog({ type, name }: { type: DatabaseType; name: string }) {
  const [remove, { isLoading, error }] = useDeleteDatabaseMutation()
  const report = useReportResult()
  const dispatch = useDispatch()
  const { label, noun } = appearances[type]
  const failure = `Failed to delete ${label} database ${name}`

  return (
    <ConfirmDialog
      title="Delete Database"
      action="Delete"
      busyText="Deleting..."
      busy={isLoading}
      onConfirm={async () =>
        report(await remove({ type, name }), `Successfully deleted ${label} database ${name}`, failure)
      }
      onClose={() => dispatch(dialogClosed())}
    >
      <FailureAlert error={error} text={failureText(error, failure)} />
      <p>
        Are you sure you want to delete the {label} database &quot;{name}&quot;?
      </p>
      <p>This action cannot be undone.</p>
      <p className="form-text">Open connections are ended first, and all of its {noun}s are deleted.</p>
    </ConfirmDialog>
  )
}
