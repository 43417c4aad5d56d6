import Form from 'react-bootstrap/Form'
import type { Deployment } from '../../../contract/deployment'
import { useToggleDeploymentMutation } from '../../api/deployments'
import { useReport } from '../../api/useReport'
import { useOneAtATime } from '../../ui/useOneAtATime'

export function DeploymentToggle({ name, enabled }: Pick<Deployment, 'name' | 'enabled'>) {
  const [toggle, { isLoading }] = useToggleDeploymentMutation({ fixedCacheKey: `toggle ${name}` })
  const report = useReport()
  const change = useOneAtATime(async () => {
    // Not disabled meanwhile: the keyboard would lose its place.
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
