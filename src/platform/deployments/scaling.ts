import type { Definition } from '../../contract/deployment'

/** How long there must be too many instances before one is ended: players come and go. In milliseconds. */
export const EXCESS_MS = 60_000

/**
 * How many instances a deployment wants: one, or for a scalable one enough for its players with a free place left,
 * between min and max.
 * @param players on all of its instances together.
 */
export function wantedCount({ type, instances }: Definition, players: number): number {
  if (type !== 'scalable') return 1
  const { min, max, playersPerInstance } = instances ?? { min: 1, max: 1, playersPerInstance: 50 }
  const needed = players === 0 ? min : Math.floor(players / playersPerInstance) + 1
  return Math.min(max, Math.max(min, needed))
}

/** Of more instances than are wanted, the ones to end: the newest that have no players, never one that has. */
export function excess<Row extends { pod_name: string; slot: number }>(rows: Row[], wanted: number, playersOf: (podName: string) => number): Row[] {
  const empty = rows.filter(({ pod_name }) => playersOf(pod_name) === 0).sort((one, other) => other.slot - one.slot)
  return empty.slice(0, Math.max(0, rows.length - wanted))
}
