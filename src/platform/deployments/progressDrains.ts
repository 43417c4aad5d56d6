import type { Definition } from '../../contract/deployment'
import type { RuntimeInstance } from '../runtime/runtime'
import type { Db } from '../state/db'
import { setDrain, setDrainSince, setRestartRun, setWanted, type InstanceRow } from '../state/instances'
import { endOfDrain, isDrained } from './drain'
import { isOver, type ReconcileParts, type Runs } from './reconcileParts'

/** Whether an instance is on its way out for good. */
export function isLeaving({ wanted, drain_then }: InstanceRow): boolean {
  return wanted === 'gone' || drain_then === 'gone'
}

/** Asks for a run to be drained. The manager sends the command with its next look at it. */
export async function drain(
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

/** Takes every drain one step further: the command, then the end once the instance is empty. @returns milliseconds until a time is up. */
export async function progressDrains(
  parts: ReconcileParts,
  definition: Definition,
  rows: InstanceRow[],
  runs: Runs,
): Promise<number[]> {
  const { db, runtime, players, now } = parts
  const waits: number[] = []
  for (const row of rows) {
    if (row.drain_run === null) continue
    const run = runs.get(row.pod_name)
    const isDone = isOver(run) || run.runId !== row.drain_run
    if (isDone || run.state === 'STOPPING') {
      // It may have ended by itself meanwhile: what was to follow follows.
      if (row.drain_then === 'gone') await setWanted(db, row.uid, 'gone')
      if (row.drain_then === 'stop') await setWanted(db, row.uid, 'stopped')
      if (isDone) await setDrain(db, row.uid, null)
      if (isDone && row.drain_then !== 'restart') waits.push(0)
      continue
    }
    const count = players.of(row.pod_name)?.count
    if (row.drain_since === null && definition.drain) {
      const { command, timeoutSeconds } = definition.drain
      if (command !== undefined) await runtime.write(row.pod_name, command)
      await runtime.note(
        row.pod_name,
        `[System] Draining: it ends when nobody plays any more, at the latest in ${timeoutSeconds} s.`,
      )
      row.drain_since = new Date(now())
      await setDrainSince(db, row.uid, row.drain_since)
    }
    if (row.drain_since && row.drain_since.getTime() > now()) {
      // The clock was set back: it has all of its time again, and not that of the clock as well.
      row.drain_since = new Date(now())
      await setDrainSince(db, row.uid, row.drain_since)
    }
    if (isDrained(row, definition, count, now())) {
      if (row.drain_then === 'restart') await setRestartRun(db, row.uid, run.runId)
      else await setWanted(db, row.uid, row.drain_then === 'gone' ? 'gone' : 'stopped')
      await runtime.stop(row.pod_name)
    } else if (row.drain_since && definition.drain) {
      waits.push(Math.max(0, endOfDrain(row.drain_since, definition.drain) - now()))
    }
  }
  return waits.filter((wait) => wait > 0)
}
