import { fireEvent, render, screen } from '@testing-library/react'
import type { ReactElement } from 'react'
import { ShownOnceDialog } from '../../../src/web/features/account/ShownOnceDialog'
import { KillDialog } from '../../../src/web/features/instance/KillDialog'
import { ConfirmDialog } from '../../../src/web/ui/dialog/ConfirmDialog'
import { FormDialog } from '../../../src/web/ui/dialog/FormDialog'
import { QuestionDialog } from '../../../src/web/ui/dialog/QuestionDialog'

const form = { title: 'Delete', action: 'Delete', busyText: 'Deleting...', busy: false, onClose: () => undefined }

test.each<[string, string, (act: () => void) => ReactElement]>([
  [
    'ConfirmDialog',
    'Delete',
    (act) => (
      <ConfirmDialog {...form} onConfirm={act}>
        Sure?
      </ConfirmDialog>
    ),
  ],
  [
    'FormDialog',
    'Delete',
    (act) => (
      <FormDialog {...form} onSubmit={act}>
        Sure?
      </FormDialog>
    ),
  ],
  [
    'QuestionDialog',
    'Discard',
    (act) => (
      <QuestionDialog title="Unsaved" answers={[{ text: 'Discard', onChoose: act }]} onClose={() => undefined}>
        Sure?
      </QuestionDialog>
    ),
  ],
  [
    'ShownOnceDialog',
    'I have copied it',
    (act) => (
      <ShownOnceDialog title="Key" action="I have copied it" onClose={act}>
        secret
      </ShownOnceDialog>
    ),
  ],
  ['KillDialog', 'Kill', (act) => <KillDialog name="lobby" onKill={act} onClose={() => undefined} />],
])('%s: the second click of the double click that opened it does not press %s', (_name, button, dialog) => {
  const act = jest.fn()
  render(dialog(act))
  // Browsers count the clicks at one place, also when another element lies there now.
  fireEvent.click(screen.getByRole('button', { name: button }), { detail: 2 })
  expect(act).not.toHaveBeenCalled()
  fireEvent.click(screen.getByRole('button', { name: button }), { detail: 1 })
  expect(act).toHaveBeenCalledTimes(1)
})
