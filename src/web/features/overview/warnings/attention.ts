import type { Deployment } from '../../../../contract/deployment'
import type { Instance } from '../../../../contract/instance'
import type { OverviewSection } from '../../../api/network'
import type { ApiFailure } from '../../../failure'
import { isKnownState } from '../../../instanceState'
import type { Filter } from '../overviewSlice'

/** Why an instance or, for `unreachable`, a whole deployment needs attention. */
export type Concern = 'blocked' | 'unknown' | 'unreachable' | 'crashing' | 'late' | 'draining'
type InstanceConcern = Exclude<Concern, 'unreachable'>

export type AttentionItem =
  | { kind: InstanceConcern; deployment: Deployment; instance: Instance }
  | { kind: 'unreachable'; deployment: Deployment; failure: ApiFailure }

/** The most urgent first. */
const ORDER: readonly Concern[] = ['unreachable', 'unknown', 'blocked', 'crashing', 'late', 'draining']

export function concernOf({ state, retry, lateStart, draining }: Instance): InstanceConcern | undefined {
  if (!isKnownState(state)) return 'unknown'
  if (state === 'BLOCKED') return 'blocked'
  if (state === 'STOPPED') return retry && 'crashing'
  if (state === 'STARTING' && lateStart) return 'late'
  return draining ? 'draining' : undefined
}

export function listAttention(sections: readonly OverviewSection[]): AttentionItem[] {
  const items = sections.flatMap(({ deployment, instances, failure }): AttentionItem[] => [
    ...(failure ? [{ kind: 'unreachable' as const, deployment, failure }] : []),
    ...instances.flatMap((instance) => {
      const kind = concernOf(instance)
      return kind ? [{ kind, deployment, instance }] : []
    }),
  ])
  return items.sort((a, b) => ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind))
}

const passes: Record<Filter, (instance: Instance) => boolean> = {
  all: () => true,
  online: ({ state }) => state === 'RUNNING',
  attention: (instance) => concernOf(instance) !== undefined,
  offline: ({ state, retry }) => state === 'STOPPED' && !retry,
}

export function countByFilter(sections: readonly OverviewSection[]): Record<Filter, number> {
  const instances = sections.flatMap((section) => section.instances)
  const count = (filter: Filter) => instances.filter(passes[filter]).length
  return { all: count('all'), online: count('online'), attention: count('attention'), offline: count('offline') }
}

/** Returns the instances that match a filter and a search; null if the whole deployment is hidden. */
export function findInstances(
  { deployment, instances }: OverviewSection,
  filter: Filter,
  query: string,
): Instance[] | null {
  const wanted = query.trim().toLowerCase()
  if (filter === 'all' && wanted === '') return instances
  const has = (text: string | undefined) => text?.toLowerCase().includes(wanted)
  const isNamed = wanted === '' || has(deployment.name) || has(deployment.description)
  const found = instances.filter(
    (instance) =>
      passes[filter](instance) &&
      (isNamed ||
        has(instance.name) ||
        has(instance.description) ||
        has(instance.podName) ||
        has(instance.node) ||
        Object.values(instance.players ?? {}).some(has)),
  )
  return found.length > 0 || (filter === 'all' && isNamed) ? found : null
}
