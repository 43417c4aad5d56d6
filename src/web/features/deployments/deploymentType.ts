import type { DeploymentType } from '../../../contract/deployment'

/** In index order. The contract's own list would bring zod into every page that shows a type; a test holds the two together. */
export const types: readonly DeploymentType[] = ['proxy', 'persistent', 'scalable', 'process']

type Appearance = { name: string; explanation: string }

export const appearances: Record<DeploymentType, Appearance> = {
  proxy: { name: 'Proxy', explanation: 'Where players connect, and what sends them on. There is one at most.' },
  persistent: { name: 'Persistent', explanation: 'One instance on one node, working in the shared directory itself.' },
  scalable: {
    name: 'Scalable',
    explanation: 'As many instances as its players need, each on a copy of the directory.',
  },
  process: { name: 'Process', explanation: 'Any other program, such as a bot, on a copy of the directory.' },
}

/** Undefined for an index that this console does not know. */
export const typeOf = (typeIndex: number): DeploymentType | undefined => types[typeIndex]
