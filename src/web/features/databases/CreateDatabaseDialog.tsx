import type { KeyboardEvent } from 'react'
import { DATABASE_NAME_MAX_LENGTH, DATABASE_NAME_PATTERN, INVALID_DATABASE_NAME } from '../../../contract/pageRules'
import { useAppDispatch } from '../../app/hooks'
import { useCreateDatabaseMutation } from '../../api/databases'
import { reportProblem } from '../../api/reportProblem'
import { useReportResult } from '../../api/useReportResult'
import { useFormDraft } from '../../drafts/useFormDraft'
import { Field } from '../../ui/form/Field'
import { FormDialog } from '../../ui/dialog/FormDialog'
import type { Creation } from './databasesSlice'
import { dialogClosed, nameTyped } from './databasesSlice'
import { appearances } from './databaseType'
import { FailureAlert } from '../../ui/FailureAlert'
import { failureText } from '../../failure'

const NAME_RULE = `Letters, digits and underscores (no dashes), at most ${DATABASE_NAME_MAX_LENGTH} characters`

export function CreateDatabaseDialog({ creation: { type, name } }: { creation: Creation }) {
  const [create, { isLoading, error }] = useCreateDatabaseMutation()
  const report = useReportResult()
  const dispatch = useAppDispatch()
  const { label } = appearances[type]
  const problem = problemOf(name)
  const isValid = name !== '' && !problem

  const draft = useFormDraft(`create ${type} database`, name === '' ? undefined : { name }, (fields) =>
    dispatch(nameTyped(fields['name'] ?? '')),
  )

  const refuse = () => dispatch(reportProblem('Invalid database name', INVALID_DATABASE_NAME, 'Invalid database name'))
  const submit = async () => {
    if (!isValid) return refuse()
    const result = await create({ type, name })
    if (!result.error) draft.drop()
    report(result, `Successfully created ${label} database ${name}`, `Failed to create ${label} database ${name}`)
  }
  // A form whose submit button is disabled is not submitted by Enter, so the refusal is reported here.
  const onKeyDown = ({ key, nativeEvent }: KeyboardEvent) =>
    key === 'Enter' && !nativeEvent.isComposing && !isValid && refuse()

  return (
    <FormDialog
      title={`Create ${label} Database`}
      action="Create"
      busyText="Creating..."
      busy={isLoading}
      disabled={!isValid}
      onSubmit={submit}
      onClose={() => {
        draft.drop()
        dispatch(dialogClosed())
      }}
    >
      {draft.offered}
      <FailureAlert error={error} text={failureText(error, `Failed to create ${label} database ${name}`)} />
      <Field
        label="Database name"
        rule={NAME_RULE}
        problem={problem}
        broken={problem !== undefined}
        focused
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        required
        readOnly={isLoading}
        value={name}
        onChange={(text) => dispatch(nameTyped(text))}
        onKeyDown={onKeyDown}
      />
      <p className="form-text">It gets a user and a password of its own, which open this database and no other.</p>
    </FormDialog>
  )
}

function problemOf(name: string): string | undefined {
  if (name !== '' && !DATABASE_NAME_PATTERN.test(name)) return INVALID_DATABASE_NAME
  const excess = name.length - DATABASE_NAME_MAX_LENGTH
  return excess > 0 ? `Database name is too long by ${excess}` : undefined
}
