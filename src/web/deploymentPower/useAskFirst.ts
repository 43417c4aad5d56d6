import { useAppDispatch } from '../app/hooks'
import type { InstanceCounts } from '../api/deployments'
import type { Interruption } from './interruptionSlice'
import { interruptionAsked } from './interruptionSlice'
import { changeDeployment } from './power'

/** Returns a function that restarts or disables a deployment, after a confirmation if this interrupts instances. */
export function useAskFirst() {
  const dispatch = useAppDispatch()
  return (change: Interruption['change'], name: string, counts: InstanceCounts | undefined) => {
    if (counts && counts.active > 0) dispatch(interruptionAsked({ name, change }))
    else void dispatch(changeDeployment({ name, change }))
  }
}
