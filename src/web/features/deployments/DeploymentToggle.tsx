import Form from 'react-bootstrap/Form'
import type { Deployment } from '../../../contract/deployment'
import { useToggleDeploymentMutation } from '../../api/deployments'
import { useReportResult } from '../../api/useReportResult'
import { useOneAtATime } from '../../ui/useOneAtATime'

export function DeploymentToggle({ name, enabled }: Pick<Deployment, 'name' | 'enabled'>) {
  const [toggle, { isLoading }] = useToggleDeploymentMutation({ fixedCacheKey: `toggle ${name}` })
  const report = useReportResult()
  const change = useOneAtATime(async () => {
    // The switch is not disabled meanwhile, because it would lose the keyboard focus.
    if (isLoading) return
    const result = await toggle({ name, enabled: !enabled })
    report(result, `Successfully ${enabled ? 'disabled' : 'enabled'} ${name}`, `Failed to toggle ${name}`)
  })
  return (
    <Form.Check
      type="switch"
      checked={enabled}
      aria-disabled={isLoading}
      aria-label={`${enabled ? 'Disable' : 'Enable'} ${name}`}
      title={enabled ? 'Disable' : 'Enable'}
      onChange={change}
    />
  )
}
