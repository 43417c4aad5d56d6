import { useId } from 'react'
import { useDispatch } from 'react-redux'
import { useMoveFilesMutation } from '../../../api/files'
import type { ApiFailure } from '../../../failure'
import { useFormDraft } from '../../../drafts/useFormDraft'
import { Field } from '../../../ui/form/Field'
import { FormDialog } from '../../../ui/dialog/FormDialog'
import type { Move } from '../filesSlice'
import { destinationTyped, dialogClosed, formSubmitted, moveFailed } from '../filesSlice'
import { NameList } from './NameList'
import { useDestinations } from './useDestinations'
import { joinPath, resolveDestination } from '../sharedPath'
import styles from './fileDialogs.module.scss'
import { FailureAlert } from '../../../ui/FailureAlert'

export function MoveDialog({ directory, move: { items, destination, tries = 0 } }: { directory: string; move: Move }) {
  const [moveFiles, { isLoading, error, reset }] = useMoveFilesMutation()
  const dispatch = useDispatch()

  const listId = useId()
  const destinations = useDestinations(directory, destination)
  const target = resolveDestination(directory, destination)
  const [only] = items
  const into = items.find(({ path }) => target === path || target?.startsWith(`${path}/`))
  const problem =
    target === null
      ? 'This leads out of the shared area'
      : target === directory
        ? destination.trim() === ''
          ? 'Please enter a destination'
          : 'The items are in this directory already'
        : into && `"${into.name}" cannot be moved into itself`

  const draft = useFormDraft(`move from ${directory}`, destination === '' ? undefined : { destination }, (fields) =>
    dispatch(destinationTyped(fields['destination'] ?? '')),
  )
  const close = () => {
    draft.drop()
    dispatch(dialogClosed('move'))
  }

  const submit = async () => {
    dispatch(formSubmitted())
    if (problem || target === null) return reset()
    const result = await moveFiles(items.map(({ path, name }) => ({ path, targetPath: joinPath(target, name) })))
    const failed = (result.error as ApiFailure | undefined)?.failed
    if (failed) dispatch(moveFailed(failed.map(({ path }) => path)))
    else if (!result.error) close()
  }

  return (
    <FormDialog
      title={items.length === 1 && only ? 'Move Item' : `Move ${items.length} Items`}
      action="Move"
      busyText="Moving..."
      busy={isLoading}
      onSubmit={submit}
      onClose={close}
    >
      {draft.offered}
      <FailureAlert error={error} title="Failed to move files" />
      <NameList names={items.map(({ name }) => name)} />
      <Field
        label="Destination"
        rule={tries > 0 && problem ? problem : 'Relative to the current directory; .. goes up.'}
        broken={tries > 0 && Boolean(problem)}
        focused
        focusKey={tries}
        placeholder="backups/2026"
        list={listId}
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        value={destination}
        onChange={(text) => dispatch(destinationTyped(text))}
      />
      <datalist id={listId}>
        {destinations.map((offered) => (
          <option key={offered} value={offered} />
        ))}
      </datalist>
      <p className={styles.movePreview}>
        Moves to{' '}
        <code>
          {target === null || target === directory
            ? '…'
            : items.length === 1 && only
              ? joinPath(target, only.name)
              : `${target}/`}
        </code>
      </p>
    </FormDialog>
  )
}
