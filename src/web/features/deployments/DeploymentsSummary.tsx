import type { Deployment } from '../../../contract/deployment'
import { counted } from '../../ui/counted'

/** Always there, so that the answer moves nothing. */
export function DeploymentsSummary({ deployments }: { deployments: Deployment[] | undefined }) {
  const active = deployments?.filter(({ enabled }) => enabled).length
  return (
    <p className="page-summary">{deployments && `${counted(deployments.length, 'deployment')} · ${active} active`}</p>
  )
}
