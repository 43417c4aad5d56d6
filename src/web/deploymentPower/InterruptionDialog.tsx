import type { InstanceCounts } from '../api/deployments'
import { countsOf, deploymentsApi } from '../api/deployments'
import { networkApi } from '../api/network'
import { useAppDispatch } from '../app/hooks'
import { ConfirmDialog } from '../ui/dialog/ConfirmDialog'
import type { Interruption } from './interruptionSlice'
import { interruptionAnswered } from './interruptionSlice'
import { changeDeployment, interruptionQuestion } from './power'

/** Asks before a restart or a disabling that interrupts instances. The call continues after the dialog has closed. */
export function InterruptionDialog(interruption: Interruption) {
  const { name, change } = interruption
  const counts = useKnownCounts(name)
  const dispatch = useAppDispatch()

  const close = () => dispatch(interruptionAnswered())
  const confirm = () => {
    close()
    void dispatch(changeDeployment(interruption))
  }
  const action = change === 'restart' ? 'Restart' : 'Disable'
  return (
    <ConfirmDialog
      title={`${action} ${name}`}
      action={action}
      // The page shows the progress.
      busyText={action}
      busy={false}
      onConfirm={confirm}
      onClose={close}
    >
      <p>{counts ? interruptionQuestion(interruption, counts) : `${action} ${name}?`}</p>
    </ConfirmDialog>
  )
}

/** Counts of the list that was loaded last, because pages poll different lists. */
function useKnownCounts(name: string): InstanceCounts | undefined {
  const list = deploymentsApi.endpoints.getDeployments.useQueryState(undefined)
  const overview = networkApi.endpoints.getOverview.useQueryState(undefined)
  const listed = list.data?.find((deployment) => deployment.name === name)?.counts
  const section = overview.data?.sections.find(({ deployment }) => deployment.name === name)
  if (!section) return listed
  if (listed && (list.fulfilledTimeStamp ?? 0) > (overview.fulfilledTimeStamp ?? 0)) return listed
  return countsOf(section.instances)
}
