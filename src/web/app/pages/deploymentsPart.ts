import { configurationSlice } from '../../features/deployments/configuration/configurationSlice'
import { deploymentsSlice } from '../../features/deployments/deploymentsSlice'
import type { Part } from './part'

/** State of the list and of the configuration editor. */
export const deploymentsPart: Part<'deployments' | 'configuration'> = {
  reducers: { deployments: deploymentsSlice.reducer, configuration: configurationSlice.reducer },
}
