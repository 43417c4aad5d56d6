import { useDispatch } from 'react-redux'
import { QuestionDialog } from '../../../ui/dialog/QuestionDialog'
import { dialogClosed } from './configurationSlice'

type ConfigurationConflictDialogProps = { name: string; onReload: () => unknown; onOverwrite: () => unknown }

/** Shown when another session saved the configuration first. */
export function ConfigurationConflictDialog({ name, onReload, onOverwrite }: ConfigurationConflictDialogProps) {
  const dispatch = useDispatch()
  const close = () => dispatch(dialogClosed())
  const then = (act: () => unknown) => () => {
    close()
    act()
  }
  return (
    <QuestionDialog
      title="Configuration Changed"
      answers={[
        { text: 'Cancel', onChoose: close },
        { text: 'Reload', onChoose: then(onReload) },
        { text: 'Overwrite', variant: 'danger', onChoose: then(onOverwrite) },
      ]}
      onClose={close}
    >
      <p>
        The configuration of &quot;{name}&quot; changed since it was opened here. Reload drops your changes, Overwrite
        drops the others.
      </p>
    </QuestionDialog>
  )
}
