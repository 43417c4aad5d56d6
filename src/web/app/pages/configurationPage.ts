import { ConfigurationEditor as Page } from '../../features/deployments/configuration/ConfigurationEditor'
import { deploymentsPart } from './deploymentsPart'
import { withPart } from './withPart'

export const ConfigurationEditor = withPart(deploymentsPart, Page)
