import { useDispatch } from 'react-redux'
import { useCreateDirectoryMutation, useCreateFileMutation } from '../../../api/files'
import { useFormDraft } from '../../../drafts/useFormDraft'
import { Field } from '../../../ui/form/Field'
import { FormDialog } from '../../../ui/dialog/FormDialog'
import { panelId, tabId, TabList } from '../../../ui/TabList'
import type { Creation } from '../filesSlice'
import { creationEdited, dialogClosed, entryFocused, formSubmitted } from '../filesSlice'
import { newNameProblem } from './fileNames'
import { joinPath } from '../sharedPath'
import { FailureAlert } from '../../../ui/FailureAlert'
import styles from './fileDialogs.module.scss'

const tabs = [
  { key: 'file', title: 'File' },
  { key: 'directory', title: 'Directory' },
] as const

export function CreateEntryDialog({
  directory,
  creation: { tab, name, tries = 0 },
}: {
  directory: string
  creation: Creation
}) {
  const [createFile, file] = useCreateFileMutation()
  const [createDirectory, folder] = useCreateDirectoryMutation()
  const dispatch = useDispatch()
  const problem = newNameProblem(tab, name)
  const isDirectory = tab === 'directory'
  const { isLoading, error, reset } = isDirectory ? folder : file

  const draft = useFormDraft(`create in ${directory}`, name === '' ? undefined : { tab, name }, (fields) =>
    dispatch(creationEdited({ tab: fields['tab'] === 'directory' ? 'directory' : 'file', name: fields['name'] ?? '' })),
  )
  const close = () => {
    draft.drop()
    dispatch(dialogClosed('create'))
  }

  const submit = async () => {
    dispatch(formSubmitted())
    if (problem) return reset()
    const path = joinPath(directory, name.trim())
    const result = await (isDirectory ? createDirectory(path) : createFile(path))
    if (result.error) return
    dispatch(entryFocused(path))
    close()
  }

  return (
    <FormDialog
      title="Create New"
      action="Create"
      busyText="Creating..."
      busy={isLoading}
      onSubmit={submit}
      onClose={close}
    >
      {draft.offered}
      <TabList
        id="create"
        label="What to create"
        tabs={tabs}
        chosen={tab}
        onChoose={(chosen) => dispatch(creationEdited({ tab: chosen }))}
      />
      <div className={styles.panel} role="tabpanel" id={panelId('create', tab)} aria-labelledby={tabId('create', tab)}>
        <FailureAlert error={error} title={isDirectory ? 'Failed to create directory' : 'Failed to create file'} />
        <Field
          label={isDirectory ? 'Directory name' : 'File name'}
          rule={tries > 0 ? problem : undefined}
          broken={tries > 0 && problem !== undefined}
          focused
          focusKey={tries}
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          placeholder={isDirectory ? 'plugins' : 'server.properties'}
          value={name}
          onChange={(text) => dispatch(creationEdited({ name: text }))}
        />
      </div>
    </FormDialog>
  )
}
