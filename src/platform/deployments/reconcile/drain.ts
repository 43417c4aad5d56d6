import type { Definition } from '../../../contract/deployment'
import type { RuntimeInstance } from '../../runtime/runtime'
import type { InstanceRow } from '../../state/deployments/instances'

type Draining = Pick<InstanceRow, 'drain_run' | 'drain_then' | 'drain_since'>

/** Whether a run is being drained, and therefore gets no new players. */
export function isDraining(
  { drain_run }: Pick<Draining, 'drain_run'>,
  run: Pick<RuntimeInstance, 'runId'> | undefined,
): boolean {
  return drain_run !== null && drain_run === run?.runId
}

/**
 * Whether a draining run may end: it is empty, or its timeout has passed. Scaling never ends a run whose player count
 * is unknown (decisions §14).
 * @param count its players; undefined if unknown
 * @param elapsedMs time since the drain command was sent
 */
export function isDrained(
  { drain_since: since, drain_then: then }: Draining,
  { drain }: Pick<Definition, 'drain'>,
  count: number | undefined,
  elapsedMs: number,
): boolean {
  if (since === null) return false
  if (count === 0 || drain === undefined) return true
  return elapsedMs >= drain.timeoutSeconds * 1000 && !(then === 'gone' && count === undefined)
}
