import { randomBytes, randomUUID } from 'node:crypto'
import type { Definition } from '../../../contract/deployment'
import { insertInstance, setDesiredState, type InstanceRow } from '../../state/deployments/instances'
import { isBeingRemoved, requestDrain } from './advanceDrains'
import { hasExited, type ReconcileContext, type Runs } from './reconcileContext'

/** Players come and go, so an excess must last this long before an instance is removed. */
const SCALE_DOWN_DELAY_MS = 60_000

/** Adds missing instances and marks excess ones for removal. @returns the instances to keep */
export async function adjustInstances(
  { db, players, now, excessSince }: ReconcileContext,
  definition: Definition,
  rows: InstanceRow[],
  runs: Runs,
): Promise<InstanceRow[]> {
  const countOf = (podName: string) => {
    const run = runs.get(podName)
    return hasExited(run) ? 0 : players.playersOf(run)?.count
  }
  const all = rows.filter((row) => !isBeingRemoved(row))
  // Instances that are drained before removal still occupy a slot, and their players may move to the others.
  const draining = rows.filter((row) => isBeingRemoved(row) && row.wanted !== 'gone')
  const { min, max } = scalingBounds(
    definition,
    [...all, ...draining].map(({ pod_name }) => countOf(pod_name)),
  )
  const slots = new Set(rows.map(({ slot }) => slot))
  const maxTotal = Math.max(1, definition.instances?.max ?? 1)
  for (let slot = 0; all.length < min && all.length + draining.length < maxTotal; slot++) {
    if (!slots.has(slot)) all.push(await insertInstance(db, newInstance(definition.name, slot)))
  }
  if (all.length <= max) {
    excessSince.delete(definition.name)
    return all
  }
  // Not in the future: the clock may have been set back.
  const since = Math.min(excessSince.get(definition.name) ?? now(), now())
  excessSince.set(definition.name, since)
  if (now() - since < SCALE_DOWN_DELAY_MS) return all
  const removed = selectForRemoval(all, max, countOf, definition.drain !== undefined)
  for (const row of removed) {
    const run = runs.get(row.pod_name)
    if (definition.drain && !hasExited(run)) await requestDrain(db, row, run, 'gone')
    else await setDesiredState(db, row.uid, 'gone')
  }
  return all.filter((row) => !removed.includes(row))
}

/**
 * The range of instances for a scalable deployment. An instance whose player count is unknown counts as empty for
 * growing and as full for shrinking, so that missing data neither starts nor ends an instance.
 */
export function scalingBounds(definition: Definition, counts: (number | undefined)[]): { min: number; max: number } {
  const known = counts.reduce<number>((sum, count) => sum + (count ?? 0), 0)
  const unknown = counts.filter((count) => count === undefined).length
  return {
    min: desiredCount(definition, known),
    max: desiredCount(definition, known + unknown * (definition.instances?.playersPerInstance ?? 0)),
  }
}

/** One, or for a scalable deployment enough for all of its players with one free place, between min and max. */
function desiredCount({ type, instances }: Definition, players: number): number {
  if (type !== 'scalable') return 1
  const { min, max, playersPerInstance } = instances ?? { min: 1, max: 1, playersPerInstance: 50 }
  const needed = players === 0 ? min : Math.floor(players / playersPerInstance) + 1
  return Math.min(max, Math.max(min, needed))
}

/**
 * Selects the instances to remove: the newest empty ones or, if they are drained first, those with the fewest players.
 * @param countOf the players of an instance; undefined if unknown: such an instance is never removed
 */
export function selectForRemoval<Row extends { pod_name: string; slot: number }>(
  rows: Row[],
  desired: number,
  countOf: (podName: string) => number | undefined,
  areDrained: boolean,
): Row[] {
  const known = rows.flatMap((row) => {
    const count = countOf(row.pod_name)
    return count === undefined || (count > 0 && !areDrained) ? [] : [{ row, count }]
  })
  known.sort((a, b) => a.count - b.count || b.row.slot - a.row.slot)
  return known.map(({ row }) => row).slice(0, Math.max(0, rows.length - desired))
}

/** Generates the ids and names of a new instance. Does not store it. */
function newInstance(
  deployment: string,
  slot: number,
): Pick<InstanceRow, 'uid' | 'deployment' | 'name' | 'pod_name' | 'slot'> {
  const id = randomBytes(3).toString('hex')
  return { uid: randomUUID(), deployment, name: `${id}-${deployment}`, pod_name: `${deployment}-${id}`, slot }
}
