import { useDispatch } from 'react-redux'
import { useDeleteInviteCodeMutation, useGetInviteCodesQuery } from '../../../api/admin'
import { ConfirmDialog } from '../../../ui/dialog/ConfirmDialog'
import { dialogClosed } from '../adminSlice'
import { keyInvites } from './inviteKey'
import { inviteStatus } from './inviteStatus'
import { useReportQuietly } from '../../../api/useReportResult'
import styles from './invites.module.scss'

export function DeleteInviteDialog({ inviteKey }: { inviteKey: string }) {
  const { data } = useGetInviteCodesQuery()
  const [remove, { isLoading }] = useDeleteInviteCodeMutation()
  const report = useReportQuietly()
  const dispatch = useDispatch()
  const close = () => dispatch(dialogClosed('deleteInvite'))
  const invite = keyInvites(data ?? []).find(({ key }) => key === inviteKey)

  const onDelete = async () => {
    // Another administrator has deleted it.
    if (!invite) return close()
    const result = await remove(invite)
    report(result, 'Successfully deleted the invite code', 'Failed to delete the invite code')
    if (!result.error) close()
  }

  return (
    <ConfirmDialog
      title="Delete Invite Code"
      action="Delete"
      busyText="Deleting..."
      busy={isLoading}
      onConfirm={onDelete}
      onClose={close}
    >
      {invite ? (
        <p>
          Are you sure you want to delete the invite code <code className={styles.askedCode}>{invite.code}</code>{' '}
          (&quot;{invite.message}&quot;)?
        </p>
      ) : (
        <p>This invite code is no longer in the list.</p>
      )}
      {invite && inviteStatus(invite) === 'Active' && (
        <p className="form-text">Nobody can register with it any more.</p>
      )}
      {invite?.used_by != null && (
        <p className="form-text">&quot;{invite.used_by}&quot; has registered with it. Their account remains.</p>
      )}
    </ConfirmDialog>
  )
}
