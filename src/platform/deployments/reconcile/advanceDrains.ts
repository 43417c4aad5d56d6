import type { Definition } from '../../../contract/deployment'
import type { RuntimeInstance } from '../../runtime/runtime'
import type { Db } from '../../state/db'
import { setDrain, setDrainSince, updateDrained, type InstanceRow } from '../../state/deployments/instances'
import { isDrained, isDraining } from './drain'
import { forEachInstance, hasExited, type ReconcileContext, type Runs } from './reconcileContext'

/** Whether an instance is to be removed, now or after a drain. */
export function isBeingRemoved({ wanted, drain_then }: InstanceRow): boolean {
  return wanted === 'gone' || drain_then === 'gone'
}

/** Requests the drain of a run. The next pass sends the command. */
export async function requestDrain(
  db: Db,
  row: InstanceRow,
  run: RuntimeInstance,
  then: NonNullable<InstanceRow['drain_then']>,
): Promise<void> {
  await setDrain(db, row.uid, { run: run.runId, then })
  Object.assign(row, {
    drain_run: run.runId,
    drain_then: then,
    drain_since: row.drain_run === run.runId ? row.drain_since : null,
  })
}

/**
 * Sends the drain commands, and stops each instance that is empty or whose timeout has passed.
 * @returns milliseconds until the next deadlines
 */
export async function advanceDrains(
  context: ReconcileContext,
  definition: Definition,
  rows: InstanceRow[],
  runs: Runs,
): Promise<number[]> {
  const { db, runtime, players, now } = context
  const delays: number[] = []
  await forEachInstance(context, rows, async (row) => {
    if (row.drain_run === null) return
    const run = runs.get(row.pod_name)
    const isDone = hasExited(run) || run.runId !== row.drain_run
    if (isDone || run.state === 'STOPPING') {
      // The run may have ended by itself. The action after the drain is still done, and the rest of the pass must know
      // it: the end of a run that is wanted counts as a crash.
      if (row.drain_then !== 'restart') {
        const wanted = row.drain_then === 'gone' ? 'gone' : 'stopped'
        if (!(await updateDrained(db, row, { wanted }))) return
        row.wanted = wanted
      }
      // Before a restart, the drain stays until the end is recorded: because of it, that end is no crash.
      const isRecorded = !isDraining(row, run) || row.drain_then !== 'restart' || row.handled_run === row.drain_run
      if (isDone && isRecorded) await updateDrained(db, row, { drain_run: null, drain_then: null, drain_since: null })
      return
    }
    const count = players.playersOf(run)?.count
    if (row.drain_since === null && definition.drain) {
      const { command, timeoutSeconds } = definition.drain
      if (command !== undefined) await runtime.write(row.pod_name, command)
      await runtime.note(
        row.pod_name,
        `[System] Draining: the instance ends when no players are left, at the latest in ${timeoutSeconds} s.`,
      )
      row.drain_since = new Date(now())
      await setDrainSince(db, row.uid, row.drain_since)
    }
    const elapsedMs = row.drain_since ? elapsedSince(context, run.runId, row.drain_since.getTime()) : 0
    if (isDrained(row, definition, count, elapsedMs)) {
      const wanted = row.drain_then === 'gone' ? 'gone' : 'stopped'
      const isCurrent = await updateDrained(
        db,
        row,
        row.drain_then === 'restart' ? { restart_run: run.runId } : { wanted },
      )
      if (isCurrent) await runtime.stop(row.pod_name)
    } else if (row.drain_since && definition.drain) {
      delays.push(Math.max(0, definition.drain.timeoutSeconds * 1000 - elapsedMs))
    }
  })
  return delays.filter((delay) => delay > 0)
}

/**
 * Milliseconds since a drain began. Only a platform that did not see its beginning relies on the machine's clock, which
 * may be set meanwhile: forward, and players would be disconnected; back, and the timeout would grow.
 * @param since milliseconds since the epoch
 */
function elapsedSince({ drainsBegun, now }: ReconcileContext, runId: string, since: number): number {
  const known = drainsBegun.get(runId)
  const begun = known?.since === since ? known : { since, at: performance.now() - Math.max(0, now() - since) }
  drainsBegun.set(runId, begun)
  return performance.now() - begun.at
}
