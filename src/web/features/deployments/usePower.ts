import { useDispatch } from 'react-redux'
import type { InstanceCounts } from '../../api/deployments'
import { useRestartDeploymentMutation, useToggleDeploymentMutation } from '../../api/deployments'
import { useReportResult } from '../../api/useReportResult'
import { useOneAtATime } from '../../ui/useOneAtATime'
import { interruptionAsked } from './deploymentsSlice'

/** Restarts a deployment. All users of this hook share the state of the call, which outlives them. */
export function useRestart(name: string) {
  const [call, { isLoading }] = useRestartDeploymentMutation({ fixedCacheKey: `restart ${name}` })
  const report = useReportResult()
  const restart = useOneAtATime(async () => {
    if (!isLoading) report(await call(name), `Successfully restarted ${name}`, `Failed to restart ${name}`)
  })
  return { restart, isRestarting: isLoading }
}

/** Enables or disables a deployment. All users of this hook share the state of the call. */
export function useToggle(name: string) {
  const [call, { isLoading }] = useToggleDeploymentMutation({ fixedCacheKey: `toggle ${name}` })
  const report = useReportResult()
  const toggle = useOneAtATime(async (enabled: boolean) => {
    if (isLoading) return
    const result = await call({ name, enabled })
    report(result, `Successfully ${enabled ? 'enabled' : 'disabled'} ${name}`, `Failed to toggle ${name}`)
  })
  return { toggle, isToggling: isLoading }
}

/** Asks first if instances would be interrupted, else acts at once. */
export function useAskFirst(name: string, counts: InstanceCounts | undefined) {
  const dispatch = useDispatch()
  return (change: 'restart' | 'disable', act: () => unknown) => {
    if (counts && counts.active > 0) dispatch(interruptionAsked({ name, change }))
    else void act()
  }
}
