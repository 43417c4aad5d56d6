import type { Definition } from '../../../contract/deployment'
import { TRIED_AGAIN } from '../../../contract/pageRules'
import { storable } from '../../runtime/consoleText'
import type { InstanceExit, RuntimeInstance } from '../../runtime/runtime'
import { setExit, type InstanceRow } from '../../state/deployments/instances'
import { captureCrash, describeCrashes, lastExitOf } from './crashCapsule'
import { isDraining } from './drain'
import { nextStartAfterCrash, restartDelayMs, BLOCK_AFTER } from './crashes'
import type { ReconcileContext } from './reconcileContext'

/** When an instance may start again: not before this time, in milliseconds since the epoch, or not by itself. */
interface NextStart {
  isBlocked: boolean
  startAfter: number
}

/** Records the end of a run once. */
export async function recordExit(
  context: ReconcileContext,
  definition: Definition,
  row: InstanceRow,
  run: RuntimeInstance | undefined,
): Promise<NextStart> {
  const { db, runtime, failedStarts, now } = context
  const { exit } = run ?? {}
  if (!run || !exit || row.handled_run === run.runId)
    return { isBlocked: row.blocked_reason !== null && !row.block_lifts, startAfter: row.start_after?.getTime() ?? 0 }
  // A run that was asked to stop is not restarted, however it ended.
  const isWanted = row.wanted === 'running' && !exit.requested
  if (isWanted && exit.isTemporary) return recordTemporaryFailure(context, row, run.runId, exit)
  failedStarts.delete(row.pod_name)
  // An end with the machine or by the cluster is no crash, nor one during a drain before a restart, whose command may
  // end the program: its instance starts again at once.
  const isCrash = isWanted && exit.interruption === undefined && !isDraining(row, run)
  const next = isCrash ? nextStartAfterCrash(row.crashes, exit.at) : { crashes: row.crashes, startAfter: 0 }
  const capsule = isCrash ? await captureCrash({ db, runtime }, row.pod_name, exit) : undefined
  const blockedReason = next.startAfter === undefined ? describeCrashes(BLOCK_AFTER, exit) : null
  if (blockedReason !== null)
    await runtime.note(row.pod_name, `[System] Blocked: ${blockedReason}. ${remedyOf(definition)}`)
  else if (isCrash)
    await runtime.note(
      row.pod_name,
      `[System] Starting again in ${Math.max(0, Math.ceil(((next.startAfter ?? 0) - now()) / 1000))} s.`,
    )
  await setExit(db, row.uid, {
    runId: run.runId,
    crashes: next.crashes,
    startAfter: next.startAfter ? new Date(next.startAfter) : null,
    blockedReason,
    exit: lastExitOf(exit),
    capsule,
  })
  return { isBlocked: blockedReason !== null, startAfter: next.startAfter ?? 0 }
}

/** Blocks an instance whose machine lacked something for its start, until the next attempt. */
async function recordTemporaryFailure(
  context: ReconcileContext,
  row: InstanceRow,
  runId: string,
  exit: InstanceExit,
): Promise<NextStart> {
  const { db, runtime, failedStarts, now } = context
  const failures = (failedStarts.get(row.pod_name) ?? 0) + 1
  const delay = restartDelayMs(failures)
  const startAfter = now() + delay
  await runtime.note(row.pod_name, `[System] Trying again in ${delay / 1000} s.`)
  await setExit(db, row.uid, {
    runId,
    crashes: row.crashes,
    startAfter: new Date(startAfter),
    blockedReason: `${storable(exit.failure ?? '')} ${TRIED_AGAIN}`,
    blockLifts: true,
    exit: lastExitOf(exit),
    capsule: undefined,
  })
  failedStarts.set(row.pod_name, failures)
  return { isBlocked: false, startAfter }
}

/** How to unblock an instance, as a sentence. A process cannot be started on its own (product §2). */
export function remedyOf({ type }: Definition): string {
  return type === 'process' ? 'Restart its deployment to try again.' : 'Start it to try again.'
}
