import { useDispatch } from 'react-redux'
import { useCreateApiKeyMutation } from '../../../api/keys'
import { takeText } from '../../../api/heldTexts'
import { useAccess } from '../../../api/useAccess'
import { useReportResult } from '../../../api/useReportResult'
import { useAppSelector } from '../../../app/hooks'
import { failureText } from '../../../failure'
import { FormDialog } from '../../../ui/dialog/FormDialog'
import { FailureAlert } from '../../../ui/FailureAlert'
import { Field } from '../../../ui/form/Field'
import { clock } from '../../../ui/time/clock'
import { KeyDeployments } from './KeyDeployments'
import { KeyExpiry } from './KeyExpiry'
import { bodyOf, problemsOf, refusalOf, scopesFor } from './keyForm'
import { KeyScopes } from './KeyScopes'
import type { KeyCreation } from './keysSlice'
import { keyDialogClosed, keyEdited, keySubmitted, type KeyChange } from './keysSlice'

const FAILED = 'Failed to create the API key'

type CreateKeyDialogProps = {
  creation: KeyCreation
  onCreated: (created: { name: string; secret: string }) => void
}

export function CreateKeyDialog({ creation, onCreated }: CreateKeyDialogProps) {
  const [create, { isLoading, error, reset }] = useCreateApiKeyMutation()
  const isAdmin = useAppSelector((state) => state.session.current?.isAdmin === true)
  const { isLimited } = useAccess()
  const report = useReportResult()
  const dispatch = useDispatch()
  const { name, tries } = creation
  const refusal = refusalOf(error)
  const problems = tries > 0 ? { ...refusal, ...problemsOf(creation, clock()) } : {}

  const edit = (change: KeyChange) => {
    // The error of the last attempt was about other values.
    if (error) reset()
    dispatch(keyEdited(change))
  }
  const close = () => dispatch(keyDialogClosed('create'))

  const submit = async () => {
    dispatch(keySubmitted())
    if (Object.keys(problemsOf(creation, clock())).length > 0) return
    const result = await create(bodyOf(creation, clock()))
    report(result, 'Successfully created the API key', FAILED)
    if (result.error) return
    close()
    onCreated({ name: name.trim(), secret: takeText(result.data.text) ?? '' })
  }

  return (
    <FormDialog
      title="Create API Key"
      action="Create"
      busyText="Creating..."
      busy={isLoading}
      ignoresOutsideClicks
      isWide
      onSubmit={submit}
      onClose={close}
    >
      {Object.keys(refusal).length === 0 && <FailureAlert error={error} text={failureText(error, FAILED)} />}
      <Field
        label="Name"
        rule={problems.name ?? 'What will use it, for example a script or a bot'}
        broken={problems.name !== undefined}
        focused={tries === 0 || problems.name !== undefined}
        focusKey={`${tries} ${problems.name}`}
        autoComplete="off"
        required
        value={name}
        onChange={(text) => edit({ name: text })}
      />
      <KeyScopes
        offered={scopesFor({ isAdmin, isLimited })}
        chosen={creation.scopes}
        problem={problems.scopes}
        onChange={(scopes) => edit({ scopes })}
      />
      <KeyDeployments creation={creation} problem={problems.deployments} onChange={edit} />
      <KeyExpiry creation={creation} problem={problems.expires_at} onChange={edit} />
    </FormDialog>
  )
}
