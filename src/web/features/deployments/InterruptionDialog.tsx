import { useDispatch } from 'react-redux'
import type { InstanceCounts } from '../../api/deployments'
import { deploymentsApi } from '../../api/deployments'
import { counted } from '../../ui/counted'
import { ConfirmDialog } from '../../ui/dialog/ConfirmDialog'
import type { Interruption } from './deploymentsSlice'
import { dialogClosed } from './deploymentsSlice'
import { useRestart, useToggle } from './usePower'

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
      <p>{questionOf(change, name, counts)}</p>
    </ConfirmDialog>
  )
}

function questionOf(change: Interruption['change'], name: string, counts: InstanceCounts | undefined): string {
  const { active = 0, players = 0, canDrain = false } = counts ?? {}
  const instances = counted(active, 'instance')
  const asked =
    change === 'restart'
      ? `Restart ${instances} of ${name}?`
      : `Disable ${name}? ${active === 1 ? 'Its instance is' : `Its ${instances} are`} stopped.`
  if (players === 0) return asked
  const online = players === 1 ? '1 player is online' : `${players} players are online`
  // Only a restart drains (decisions §14).
  if (change === 'restart' && canDrain) return `${asked} ${online}; each instance is drained before it stops.`
  return `${asked} ${online}; ${players === 1 ? 'this player is' : 'they are'} disconnected.`
}
