import { useDispatch } from 'react-redux'
import type { DatabaseType } from '../../../contract/database'
import { useResetDatabasePasswordMutation } from '../../api/databases'
import { useReportResult } from '../../api/useReportResult'
import { ConfirmDialog } from '../../ui/dialog/ConfirmDialog'
import { dialogClosed } from './databasesSlice'
import { appearances } from './databaseType'
import { FailureAlert } from '../../ui/FailureAlert'
import { failureText } from '../../failure'

export function ResetDatabasePasswordDialog({ type, name }: { type: DatabaseType; name: string }) {
  const [reset, { isLoading, error }] = useResetDatabasePasswordMutation()
  const report = useReportResult()
  const dispatch = useDispatch()
  const { label } = appearances[type]
  const failure = `Failed to reset password for ${label} database ${name}`

  return (
    <ConfirmDialog
      title="Reset Password"
      action="Reset"
      busyText="Resetting..."
      busy={isLoading}
      onConfirm={async () =>
        report(await reset({ type, name }), `Successfully reset password for ${label} database ${name}`, failure)
      }
      onClose={() => dispatch(dialogClosed())}
    >
      <FailureAlert error={error} text={failureText(error, failure)} />
      <p>
        Are you sure you want to reset the password of the {label} database &quot;{name}&quot;?
      </p>
      <p className="form-text">
        The old password stops working at once: give the new one to everything that uses this database.
      </p>
    </ConfirmDialog>
  )
}
