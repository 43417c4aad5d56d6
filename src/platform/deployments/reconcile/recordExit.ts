import type { Definition } from '../../../contract/deployment'
import type { RuntimeInstance } from '../../runtime/runtime'
import { setExit, type InstanceRow } from '../../state/deployments/instances'
import { captureCrash, describeCrashes, lastExitOf } from './crashCapsule'
import { nextStartAfterCrash, BLOCK_AFTER } from './crashes'
import type { ReconcileContext } from './reconcileContext'

/** Records the end of a run once. @returns whether the instance is blocked, and the earliest time of its next start */
export async function recordExit(
  { db, runtime, now }: ReconcileContext,
  definition: Definition,
  row: InstanceRow,
  run: RuntimeInstance | undefined,
): Promise<{ blocked: boolean; startAfter: number }> {
  const { exit } = run ?? {}
  if (!run || !exit || row.handled_run === run.runId)
    return { blocked: row.blocked_reason !== null, startAfter: row.start_after?.getTime() ?? 0 }
  // A run that was asked to stop is not restarted, however it ended.
  const isWanted = row.wanted === 'running' && !exit.requested
  // An end that the cluster has caused is no crash: its instance starts again at once.
  const endedByItself = !exit.requested && exit.interruption === undefined
  const isCrash = isWanted && endedByItself
  const next = isCrash ? nextStartAfterCrash(row.crashes, exit.at) : { crashes: row.crashes, startAfter: 0 }
  const capsule = endedByItself ? await captureCrash({ db, runtime }, row.pod_name, exit) : undefined
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
  return { blocked: blockedReason !== null, startAfter: next.startAfter ?? 0 }
}

/** How to unblock an instance, as a sentence. A process cannot be started on its own (product §2). */
export function remedyOf({ type }: Definition): string {
  return type === 'process' ? 'Restart its deployment to try again.' : 'Start it to try again.'
}
