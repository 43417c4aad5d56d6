import Form from 'react-bootstrap/Form'
import type { Deployment } from '../../../contract/deployment'
import { useToggleDeploymentMutation } from '../../api/deployments'
import { missingRight, useAccess } from '../../api/useAccess'
import { useReportResult } from '../../api/useReportResult'
import { useOneAtATime } from '../../ui/useOneAtATime'

export function DeploymentToggle({ name, enabled }: Pick<Deployment, 'name' | 'enabled'>) {
  const [toggle, { isLoading }] = useToggleDeploymentMutation({ fixedCacheKey: `toggle ${name}` })
  const mayToggle = useAccess().may('power', name)
  const report = useReportResult()
  const change = useOneAtATime(async () => {
    // The switch is not disabled meanwhile, because it would lose the keyboard focus.
    if (isLoading) return
    const result = await toggle({ name, enabled: !enabled })
    report(result, `Successfully ${enabled ? 'disabled' : 'enabled'} ${name}`, `Failed to toggle ${name}`)
  })
  return (
    <div title={mayToggle ? (enabled ? 'Disable' : 'Enable') : missingRight('power')}>
      <Form.Check
        type="switch"
        role="switch"
        checked={enabled}
        disabled={!mayToggle}
        aria-disabled={isLoading}
        aria-label={`${name} enabled`}
        onChange={change}
      />
    </div>
  )
}
