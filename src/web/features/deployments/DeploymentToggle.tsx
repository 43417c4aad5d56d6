import type { ListedDeployment } from '../../api/deployments'
import { missingRight, useAccess } from '../../api/useAccess'
import { useAppDispatch } from '../../app/hooks'
import { toggleDeployment, useIsToggling } from '../../deploymentPower/power'
import { useAskFirst } from '../../deploymentPower/useAskFirst'

type DeploymentToggleProps = {
  deployment: Pick<ListedDeployment, 'name' | 'enabled' | 'counts'>
  /** Shown beside the switch. Without it, the switch has only an accessible name. */
  label?: string
}

export function DeploymentToggle({ deployment: { name, enabled, counts }, label }: DeploymentToggleProps) {
  const isToggling = useIsToggling(name)
  const mayToggle = useAccess().may('power', name)
  const askFirst = useAskFirst()
  const dispatch = useAppDispatch()
  const change = () => {
    // The switch is not disabled during the call, because it would lose the keyboard focus.
    if (isToggling || !mayToggle) return
    if (enabled) askFirst('disable', name, counts)
    else void dispatch(toggleDeployment(name, true))
  }
  return (
    <div className="form-check form-switch">
      <input
        type="checkbox"
        role="switch"
        className="form-check-input"
        id={label === undefined ? undefined : `enable-${name}`}
        checked={enabled}
        aria-disabled={isToggling || !mayToggle}
        aria-label={label === undefined ? `${name} enabled` : undefined}
        title={mayToggle ? (enabled ? 'Disable' : 'Enable') : missingRight('power')}
        onChange={change}
      />
      {label !== undefined && <label htmlFor={`enable-${name}`}>{label}</label>}
    </div>
  )
}
