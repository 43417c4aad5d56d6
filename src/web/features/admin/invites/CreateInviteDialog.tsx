import { useDispatch } from 'react-redux'
import { useCreateInviteCodeMutation } from '../../../api/admin'
import { useFormDraft } from '../../../drafts/useFormDraft'
import { Field } from '../../../ui/form/Field'
import { FormDialog } from '../../../ui/dialog/FormDialog'
import type { InviteCreation } from '../adminSlice'
import { dialogClosed, inviteMessageTyped, inviteSubmitted } from '../adminSlice'
import { useReportQuietly } from '../useReportQuietly'

export function CreateInviteDialog({ creation: { message, tries = 0 } }: { creation: InviteCreation }) {
  const [create, { isLoading }] = useCreateInviteCodeMutation()
  const report = useReportQuietly()
  const dispatch = useDispatch()
  const lacksMessage = tries > 0 && message.trim() === ''

  const draft = useFormDraft('create invite code', message === '' ? undefined : { message }, (fields) =>
    dispatch(inviteMessageTyped(fields['message'] ?? '')),
  )
  const close = () => {
    draft.drop()
    dispatch(dialogClosed('createInvite'))
  }

  const submit = async () => {
    dispatch(inviteSubmitted())
    if (message.trim() === '') return
    const result = await create({ message: message.trim() })
    report(result, 'Successfully created the invite code', 'Failed to create the invite code')
    if (!result.error) close()
  }

  return (
    <FormDialog
      title="Create Invite Code"
      action="Create"
      busyText="Creating..."
      busy={isLoading}
      onSubmit={submit}
      onClose={close}
    >
      {draft.offered}
      <Field
        label="Message"
        rule={lacksMessage ? 'Message cannot be empty' : 'Who it is for, or what. Only administrators see it.'}
        broken={lacksMessage}
        focused
        focusKey={tries}
        autoComplete="off"
        maxLength={500}
        required
        value={message}
        onChange={(text) => dispatch(inviteMessageTyped(text))}
      />
    </FormDialog>
  )
}
