import { useToggleDeploymentMutation } from '../../api/deployments'
import { useReportResult } from '../../api/useReportResult'

/** Enables or disables a deployment. The state of the call is shared with the Deployments page. */
export function useToggle(name: string) {
  const [change, { isLoading: toggling }] = useToggleDeploymentMutation({ fixedCacheKey: `toggle ${name}` })
  const report = useReportResult()
  const toggle = async (enabled: boolean) =>
    report(
      await change({ name, enabled }),
      `Successfully ${enabled ? 'enabled' : 'disabled'} ${name}`,
      `Failed to toggle ${name}`,
    )
  return { toggle, toggling }
}
