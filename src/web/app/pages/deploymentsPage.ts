import { DeploymentsPage as Page } from '../../features/deployments/DeploymentsPage'
import { deploymentsPart } from './deploymentsPart'
import { withPart } from './withPart'

export const DeploymentsPage = withPart(deploymentsPart, Page)
