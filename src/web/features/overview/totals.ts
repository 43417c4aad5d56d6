import { DEPLOYMENT_TYPES } from '../../../contract/pageRules'
import type { Instance } from '../../../contract/instance'
import type { OverviewSection } from '../../api/network'
import { playerCountOf } from '../../instanceState'

export type PlayerTotal = {
  /** Undefined if no instance has players. */
  count: number | undefined
  /** Whether the players of some instances are unknown. */
  isPartial: boolean
}

export function countPlayers(instances: readonly Instance[]): PlayerTotal {
  const counts = instances.map(playerCountOf).filter((count) => count !== undefined)
  return {
    count: counts.length > 0 ? counts.reduce<number>((sum, count) => sum + (count ?? 0), 0) : undefined,
    isPartial: counts.includes(null),
  }
}

/** The figures of the whole network. */
export function totalsOf(sections: readonly OverviewSection[]) {
  const instances = sections.flatMap((section) => section.instances)
  const online = instances.filter(({ state }) => state === 'RUNNING')
  const isProxy = ({ deployment }: OverviewSection) => DEPLOYMENT_TYPES[deployment.typeIndex] === 'proxy'
  const playersOf = (chosen: OverviewSection[]) => countPlayers(chosen.flatMap((section) => section.instances))
  const onProxies = playersOf(sections.filter(isProxy))
  const onServers = playersOf(sections.filter((section) => !isProxy(section)))
  return {
    instances: instances.length,
    online: online.length,
    // A player on a server is on its proxy too.
    players: Math.max(onProxies.count ?? 0, onServers.count ?? 0),
    isPartial: onProxies.isPartial || onServers.isPartial,
    cpu: online.length > 0 ? online.reduce((sum, { cpu }) => sum + cpu, 0) / online.length : undefined,
    busiest: online.reduce<Instance | undefined>(
      (most, next) => (most && most.cpu >= next.cpu ? most : next),
      undefined,
    ),
    memory: {
      used: online.reduce((sum, { memory }) => sum + memory.used, 0),
      // Without a limit, the memory of an instance is that of its machine, which would count once for each of them.
      total: online.every(({ limits }) => limits?.memory !== undefined)
        ? online.reduce((sum, { memory }) => sum + memory.total, 0)
        : undefined,
    },
  }
}

/** Formats a number with this many decimals, and a whole one with none: 4.30, 4, 0.01. */
export const rounded = (value: number, digits: number) => value.toFixed(digits).replace(/\.0+$/, '')
