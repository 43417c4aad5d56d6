import type { Definition } from '../../../contract/deployment'
import type { RuntimeInstance } from '../../runtime/runtime'
import type { InstanceRow } from '../../state/deployments/instances'

/** Whether a run is being drained, and therefore gets no new players. */
export function isDraining(
  { drain_run }: Pick<InstanceRow, 'drain_run'>,
  run: Pick<RuntimeInstance, 'runId'> | undefined,
): boolean {
  return drain_run !== null && drain_run === run?.runId
}

/**
 * Whether a draining run may end: it is empty, or its timeout has passed. Scaling never ends a run whose player count
 * is unknown (decisions §14). If the drain setting has been removed meanwhile, a stop or restart waits no longer, and
 * scaling ends only empty runs, as it does without the setting.
 * @param count its players; undefined if unknown
 * @param elapsedMs time since the drain command was sent; 0 before
 */
export function isDrained(
  { drain_then: then }: Pick<InstanceRow, 'drain_then'>,
  { drain }: Pick<Definition, 'drain'>,
  count: number | undefined,
  elapsedMs: number,
): boolean {
  if (count === 0) return true
  if (drain === undefined) return then !== 'gone'
  return elapsedMs >= drain.timeoutSeconds * 1000 && !(then === 'gone' && count === undefined)
}
