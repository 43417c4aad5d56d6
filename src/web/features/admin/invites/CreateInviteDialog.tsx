import { useDispatch } from 'react-redux'
import type { UserAccess } from '../../../../contract/access'
import { useCreateInviteCodeMutation } from '../../../api/admin'
import { useFormDraft } from '../../../drafts/useFormDraft'
import { Field } from '../../../ui/form/Field'
import { FormDialog } from '../../../ui/dialog/FormDialog'
import { AccessFields } from '../access/AccessFields'
import { effectiveAccess } from '../access/rights'
import type { InviteCreation } from '../adminSlice'
import { dialogClosed, inviteAccessChosen, inviteMessageTyped, inviteSubmitted } from '../adminSlice'
import { useReportQuietly } from '../../../api/useReportResult'

/** The access that the platform gives by default. */
const DEFAULT_ACCESS: UserAccess = { role: 'operator', grants: [] }

export function CreateInviteDialog({ creation: { message, access, tries = 0 } }: { creation: InviteCreation }) {
  const [create, { isLoading }] = useCreateInviteCodeMutation()
  const report = useReportQuietly()
  const dispatch = useDispatch()
  const isMessageMissing = tries > 0 && message.trim() === ''

  const draft = useFormDraft(
    'create invite code',
    message === '' ? undefined : { message, ...(access && { access: JSON.stringify(access) }) },
    (fields) => {
      dispatch(inviteMessageTyped(fields['message'] ?? ''))
      if (fields['access']) dispatch(inviteAccessChosen(JSON.parse(fields['access']) as UserAccess))
    },
  )
  const close = () => {
    draft.drop()
    dispatch(dialogClosed('createInvite'))
  }

  const submit = async () => {
    dispatch(inviteSubmitted())
    if (message.trim() === '') return
    const result = await create({ message: message.trim(), ...(access && effectiveAccess(access)) })
    report(result, 'Successfully created the invite code', 'Failed to create the invite code')
    if (!result.error) close()
  }

  return (
    <FormDialog
      title="Create Invite Code"
      action="Create"
      busyText="Creating..."
      busy={isLoading}
      isWide
      onSubmit={submit}
      onClose={close}
    >
      {draft.offered}
      <Field
        label="Message"
        rule={
          isMessageMissing
            ? 'Message cannot be empty'
            : 'Who or what the code is for. Only administrators see this message.'
        }
        broken={isMessageMissing}
        focused
        focusKey={tries}
        autoComplete="off"
        maxLength={500}
        required
        value={message}
        onChange={(text) => dispatch(inviteMessageTyped(text))}
      />
      <AccessFields access={access ?? DEFAULT_ACCESS} onChange={(chosen) => dispatch(inviteAccessChosen(chosen))} />
    </FormDialog>
  )
}
