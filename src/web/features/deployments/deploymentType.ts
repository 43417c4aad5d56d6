import type { DeploymentType } from '../../../contract/deployment'
import { DEPLOYMENT_TYPES } from '../../../contract/pageRules'

type Appearance = { name: string; explanation: string }

export const appearances: Record<DeploymentType, Appearance> = {
  proxy: {
    name: 'Proxy',
    explanation: 'Players connect to it, and it forwards them to other servers. There can be only one.',
  },
  persistent: { name: 'Persistent', explanation: 'One instance on one node, working in the shared directory itself.' },
  scalable: {
    name: 'Scalable',
    explanation: 'As many instances as its players need, each on a copy of the directory.',
  },
  process: {
    name: 'Process',
    explanation: 'Any other program, such as a bot, working in the shared directory itself.',
  },
}

/** Returns undefined for an index that this console does not know. */
export const typeOf = (typeIndex: number): DeploymentType | undefined => DEPLOYMENT_TYPES[typeIndex]
