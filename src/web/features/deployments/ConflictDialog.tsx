import { useDispatch } from 'react-redux'
import { QuestionDialog } from '../../ui/QuestionDialog'
import { dialogClosed } from './configurationSlice'

type ConflictDialogProps = { name: string; onReload: () => unknown; onOverwrite: () => unknown }

/** Asked when somebody else saved first. */
export function ConflictDialog({ name, onReload, onOverwrite }: ConflictDialogProps) {
  const dispatch = useDispatch()
  const close = () => dispatch(dialogClosed())
  const then = (act: () => unknown) => () => {
    close()
    act()
  }
  return (
    <QuestionDialog
      title="Configuration changed"
      answers={[
        { text: 'Reload', onChoose: then(onReload) },
        { text: 'Overwrite', variant: 'danger', onChoose: then(onOverwrite) },
        { text: 'Cancel', onChoose: close },
      ]}
    >
      <p>
        The configuration of &quot;{name}&quot; changed since it was opened here. Reload drops your changes, Overwrite
        drops the others.
      </p>
    </QuestionDialog>
  )
}
