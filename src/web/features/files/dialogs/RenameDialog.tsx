import { useDispatch } from 'react-redux'
import { useRenameFileMutation } from '../../../api/files'
import { failureText } from '../../../failure'
import { useFormDraft } from '../../../drafts/useFormDraft'
import { Field } from '../../../ui/form/Field'
import { FormDialog } from '../../../ui/dialog/FormDialog'
import type { Renaming } from '../filesSlice'
import { dialogClosed, entryFocused, formSubmitted, newNameTyped } from '../filesSlice'
import { renameProblem } from './fileNames'
import { joinPath, parentPath } from '../sharedPath'
import { FailureAlert } from '../../../ui/FailureAlert'

export function RenameDialog({ renaming: { item, name, tries = 0 } }: { renaming: Renaming }) {
  const [rename, { isLoading, error, reset }] = useRenameFileMutation()
  const dispatch = useDispatch()
  const problem = renameProblem(item.name, name)

  const draft = useFormDraft(`rename ${item.path}`, name === item.name ? undefined : { name }, (fields) =>
    dispatch(newNameTyped(fields['name'] ?? item.name)),
  )
  const close = () => {
    draft.drop()
    dispatch(dialogClosed('rename'))
  }

  const submit = async () => {
    dispatch(formSubmitted())
    if (problem) return reset()
    const targetPath = joinPath(parentPath(item.path), name.trim())
    const result = await rename({ path: item.path, targetPath })
    if (result.error) return
    dispatch(entryFocused(targetPath))
    close()
  }

  return (
    <FormDialog
      title={`Rename ${item.name}`}
      action="Rename"
      busyText="Renaming..."
      busy={isLoading}
      onSubmit={submit}
      onClose={close}
    >
      {draft.offered}
      <FailureAlert
        error={error}
        title={failureText(error, '') ? 'Failed to rename' : 'Failed to rename. Please try again.'}
      />
      <Field
        label="New name"
        rule={tries > 0 ? problem : undefined}
        broken={tries > 0 && problem !== undefined}
        focused
        focusKey={tries}
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        value={name}
        onChange={(text) => dispatch(newNameTyped(text))}
      />
    </FormDialog>
  )
}
