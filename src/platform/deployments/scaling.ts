import type { Definition } from '../../contract/deployment'

/** How long there must be too many instances before one is ended: players come and go. In milliseconds. */
export const EXCESS_MS = 60_000

/**
 * How many instances a scalable deployment wants to have and to keep. An instance whose players are unknown counts as empty for
 * growing and as full for shrinking: neither a start nor an end may follow from what nobody knows.
 */
export function scalingBounds(
  definition: Definition,
  counts: (number | undefined)[],
): { atLeast: number; atMost: number } {
  const known = counts.reduce<number>((sum, count) => sum + (count ?? 0), 0)
  const unknown = counts.filter((count) => count === undefined).length
  return {
    atLeast: wantedCount(definition, known),
    atMost: wantedCount(definition, known + unknown * (definition.instances?.playersPerInstance ?? 0)),
  }
}

/**
 * How many instances a deployment wants: one, or for a scalable one enough for its players with a free place left,
 * between min and max.
 * @param players on all of its instances together.
 */
function wantedCount({ type, instances }: Definition, players: number): number {
  if (type !== 'scalable') return 1
  const { min, max, playersPerInstance } = instances ?? { min: 1, max: 1, playersPerInstance: 50 }
  const needed = players === 0 ? min : Math.floor(players / playersPerInstance) + 1
  return Math.min(max, Math.max(min, needed))
}

/**
 * The instances to end when there are more than wanted: the newest that are known to be empty and, where they are drained first, those
 * with the fewest players.
 * @param countOf the players of an instance; undefined: unknown, and then it is never ended.
 */
export function excess<Row extends { pod_name: string; slot: number }>(
  rows: Row[],
  wanted: number,
  countOf: (podName: string) => number | undefined,
  areDrained: boolean,
): Row[] {
  const known = rows.flatMap((row) => {
    const count = countOf(row.pod_name)
    return count === undefined || (count > 0 && !areDrained) ? [] : [{ row, count }]
  })
  known.sort((one, other) => one.count - other.count || other.row.slot - one.row.slot)
  return known.map(({ row }) => row).slice(0, Math.max(0, rows.length - wanted))
}
