import { useDispatch } from 'react-redux'
import { deploymentsApi } from '../../api/deployments'
import { interruptionQuestion, useRestart, useToggle } from '../../deploymentPower'
import { ConfirmDialog } from '../../ui/dialog/ConfirmDialog'
import type { Interruption } from './deploymentsSlice'
import { dialogClosed } from './deploymentsSlice'

/** Asks before a restart or a disabling that interrupts instances. Its counts are those of the list, which is polled. */
export function InterruptionDialog({ name, change }: Omit<Interruption, 'kind'>) {
  const { counts } = deploymentsApi.endpoints.getDeployments.useQueryState(undefined, {
    selectFromResult: ({ data }) => ({ counts: data?.find((deployment) => deployment.name === name)?.counts }),
  })
  const { restart } = useRestart(name)
  const { toggle } = useToggle(name)
  const dispatch = useDispatch()

  const close = () => dispatch(dialogClosed('interrupt'))
  const act = () => {
    close()
    void (change === 'restart' ? restart() : toggle(false))
  }
  const action = change === 'restart' ? 'Restart' : 'Disable'
  return (
    <ConfirmDialog
      title={`${action} ${name}`}
      action={action}
      // The row shows the progress.
      busyText={action}
      busy={false}
      onConfirm={act}
      onClose={close}
    >
      <p>{counts ? interruptionQuestion(change, name, counts) : `${action} ${name}?`}</p>
    </ConfirmDialog>
  )
}
