import { configurationSlice } from '../features/deployments/configurationSlice'
import { deploymentsSlice } from '../features/deployments/deploymentsSlice'
import type { Part } from './part'

/** Of the list and of the editor. */
export const deploymentsPart: Part<'deployments' | 'configuration'> = {
  reducers: { deployments: deploymentsSlice.reducer, configuration: configurationSlice.reducer },
}
