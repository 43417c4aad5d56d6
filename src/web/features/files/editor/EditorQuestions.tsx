import { useDispatch } from 'react-redux'
import { QuestionDialog } from '../../../ui/dialog/QuestionDialog'
import type { Editing } from '../filesSlice'
import { dialogClosed, questionAnswered } from '../filesSlice'
import { useLeave } from './useLeave'

type EditorQuestionsProps = {
  editing: Editing
  onReload: () => unknown
  onOverwrite: () => unknown
  onDiscard: () => unknown
}

/** Asks before unsaved changes are lost. */
export function EditorQuestions({ editing: { item, asked }, onReload, onOverwrite, onDiscard }: EditorQuestionsProps) {
  const dispatch = useDispatch()
  const leave = useLeave()
  if (!asked) return null
  const stay = () => dispatch(questionAnswered())

  if (asked === 'conflict') {
    const then = (act: () => unknown) => () => {
      stay()
      act()
    }
    return (
      <QuestionDialog
        title="File Changed"
        answers={[
          { text: 'Cancel', onChoose: stay },
          { text: 'Reload', onChoose: then(onReload) },
          { text: 'Overwrite', variant: 'danger', onChoose: then(onOverwrite) },
        ]}
        onClose={stay}
      >
        <p>
          &quot;<bdi>{item.name}</bdi>&quot; changed since it was opened here. Reload drops your changes, Overwrite
          drops the others.
        </p>
      </QuestionDialog>
    )
  }

  const discard = () => {
    onDiscard()
    dispatch(dialogClosed('edit'))
    if (asked.leaving) void leave(asked.leaving)
  }
  return (
    <QuestionDialog
      title="Close without saving?"
      answers={[
        { text: 'Discard changes', onChoose: discard },
        { text: 'Keep editing', variant: 'primary', onChoose: stay },
      ]}
      onClose={stay}
    >
      <p>
        Your changes to &quot;<bdi>{item.name}</bdi>&quot; are not saved.
      </p>
    </QuestionDialog>
  )
}
