import { useDispatch } from 'react-redux'
import type { Instance } from '../../../contract/instance'
import { countsOf } from '../../api/deployments'
import { interruptionQuestion, useRestart, useToggle } from '../../deploymentPower'
import { ConfirmDialog } from '../../ui/dialog/ConfirmDialog'
import type { PowerQuestion } from './overviewSlice'
import { dialogClosed } from './overviewSlice'

/** Asks before all instances of a deployment are stopped. The call goes on after the dialog has closed. */
export function PowerDialog({ kind, name, instances }: PowerQuestion & { instances: Instance[] }) {
  const { restart } = useRestart(name)
  const { toggle } = useToggle(name)
  const dispatch = useDispatch()
  const close = () => dispatch(dialogClosed())
  const action = kind === 'restart' ? 'Restart' : 'Disable'
  return (
    <ConfirmDialog
      title={`${action} ${name}`}
      action={action}
      busyText={action}
      busy={false}
      onConfirm={() => {
        close()
        void (kind === 'restart' ? restart() : toggle(false))
      }}
      onClose={close}
    >
      <p>{interruptionQuestion(kind, name, countsOf(instances))}</p>
    </ConfirmDialog>
  )
}
